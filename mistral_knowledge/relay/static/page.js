// A question goes to api/rag; the events of the answer become DOM nodes as they come.
// Whatever the server sends is shown through text nodes: nothing here makes HTML of it.

const byId = (id) => document.getElementById(id);

// What the page says

const CUT = "The connection ended before the answer was whole.";
const UNREADABLE = "The server sent something that this page cannot read.";
const UNREACHABLE = "The server cannot be reached. Is it running?";
const STOPPED = "Stopped.";
const PARTIAL = "What is shown is only a part of the answer.";
const EMPTY = "The answer is empty.";
const LENGTH = "The answer ends here because it reached its greatest length.";
const STATUS_WORDS = {
  401: "This server asks for a token.",
  403: "The server does not allow this.",
  404: "This server does not answer questions at this address.",
  413: "The question is too long for this server.",
  429: "The server is busy. Wait a moment, then ask again.",
};
const TOOLS = {
  document_library: "Document search",
  web_search: "Web search",
  web_search_premium: "Web search",
  code_interpreter: "Code",
};
const KINDS = { chunk: "Document", document: "Document", file: "File", web: "Web page", tool: "Tool" };

class Failure extends Error {}

const isText = (value) => typeof value === "string" && value !== "";

function element(name, text = "", className = "") {
  const made = document.createElement(name);
  if (text !== "") made.textContent = text;
  if (className) made.className = className;
  return made;
}

function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

// The address if it is one of the web, else null: nothing but http and https may become a link.
function webAddress(value) {
  if (!isText(value) || !URL.canParse(value)) return null;
  const url = new URL(value);
  return url.protocol === "https:" || url.protocol === "http:" ? url : null;
}

function link(url, text) {
  const made = element("a", text);
  made.href = url.href;
  made.target = "_blank";
  made.rel = "noopener noreferrer";
  return made;
}

// The stream: bytes, cut anywhere, to envelopes {event, data}

async function* textsOf(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function* envelopesOf(body) {
  let rest = "";
  let data = [];
  let afterReturn = false;
  for await (const text of textsOf(body)) {
    if (text === "") continue;
    // A CR ends a line at once; the LF that may follow in the next piece ends no other.
    const fresh = afterReturn && text[0] === "\n" ? text.slice(1) : text;
    afterReturn = text.endsWith("\r");
    const lines = (rest + fresh).split(/\r\n|\r|\n/);
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
      if (line !== "" || data.length === 0) continue;
      yield envelope(data.join("\n"));
      data = [];
    }
  }
}

function envelope(text) {
  let read;
  try {
    read = JSON.parse(text);
  } catch {
    throw new Failure(UNREADABLE);
  }
  if (typeof read?.event !== "string") throw new Failure(UNREADABLE);
  return { event: read.event, data: read.data ?? {} };
}

// Text with citations to nodes: a small part of Markdown, block by block

const FENCE = /^ {0,3}(```+|~~~+)/;
const HEADING = /^(#{1,6})[ \t]+(?=\S)/;
const ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(?=\S)/;
// Lengths are bounded, so that no text makes the matching slow.
const INLINE = new RegExp(
  [
    /(?<ticks>`{1,3})(?<code>[^`\n]{1,1000})\k<ticks>(?!`)/,
    /(?<![\w*])\*\*(?=\S)(?<strong>[^]{0,800}?[^\s*])\*\*(?!\*)/,
    /(?<![\w*])\*(?<em>[^\s*](?:[^*\n]{0,400}[^\s*])?)\*(?![\w*])/,
    /\[(?<label>[^[\]\n]{1,400})\]\((?<url>[^()\s]{1,2000})\)/,
  ].map((part) => part.source).join("|"),
  "g",
);

function* linesOf(text) {
  for (let start = 0; start <= text.length; ) {
    const found = text.indexOf("\n", start);
    const end = found === -1 ? text.length : found;
    yield { start, end, line: text.slice(start, end) };
    start = end + 1;
  }
}

// Blocks are {kind, start, end, ...}, with places in UTF-16 units.
function blocksOf(text) {
  const blocks = [];
  let open = null;
  for (const { start, end, line } of linesOf(text)) {
    if (open?.kind === "code") {
      open.end = end;
      if (closes(line, open.fence)) open = null;
      else open.to = end;
      continue;
    }
    const fresh = blockAt(line, start, end, open);
    if (fresh === null) {
      if (line.trim() === "") open = null;
      else open.end = open.to = end;
      continue;
    }
    blocks.push(fresh);
    open = fresh.kind.startsWith("h") ? null : fresh;
  }
  return blocks;
}

function closes(line, fence) {
  const trimmed = line.trim();
  return trimmed.startsWith(fence) && trimmed === fence[0].repeat(trimmed.length);
}

// The block that begins with this line; null if the line belongs to the open one, or is blank.
function blockAt(line, start, end, open) {
  const fence = FENCE.exec(line);
  if (fence) return { kind: "code", start, end, from: end + 1, to: end, fence: fence[1] };
  const heading = HEADING.exec(line);
  if (heading) return { kind: heading[1].length < 3 ? "h3" : "h4", start, end, from: start + heading[0].length, to: end };
  const item = ITEM.exec(line);
  if (item) return { kind: "li", start, end, from: start + item[0].length, to: end, ...itemKind(item) };
  if (line.trim() === "" || open) return null;
  return { kind: "p", start, end, from: start, to: end };
}

function itemKind([, indent, sign]) {
  return { inner: indent.length > 1, number: /\d/.test(sign) ? parseInt(sign, 10) : null };
}

// Writes the text of a block, with each mark {at, index} behind the words it belongs to.
class Writer {
  constructor(text, marks, makeMark) {
    this.text = text;
    this.marks = [...marks];
    this.makeMark = makeMark;
  }

  plain(parent, from, to) {
    this.marksUpTo(parent, from);
    while (this.marks.length && this.marks[0].at < to) {
      parent.append(this.text.slice(from, this.marks[0].at));
      from = this.marks[0].at;
      this.marksUpTo(parent, from);
    }
    parent.append(this.text.slice(from, to));
    this.marksUpTo(parent, to);
  }

  marksUpTo(parent, place) {
    while (this.marks.length && this.marks[0].at <= place) stick(parent, this.makeMark(this.marks.shift().index));
  }

  inline(parent, from, to, depth = 0) {
    let done = from;
    for (const match of depth < 4 ? this.text.slice(from, to).matchAll(INLINE) : []) {
      const start = from + match.index;
      this.plain(parent, done, start);
      done = start + match[0].length;
      this.span(parent, match.groups, start, done, depth);
    }
    this.plain(parent, done, to);
  }

  span(parent, { ticks, code, strong, em, label, url }, start, end, depth) {
    const wrapped = (node, from, length) => {
      parent.append(node);
      this.inline(node, from, from + length, depth + 1);
    };
    const address = webAddress(url);
    if (code !== undefined) parent.append(element("code", code));
    else if (strong !== undefined) wrapped(element("strong"), start + 2, strong.length);
    else if (em !== undefined) wrapped(element("em"), start + 1, em.length);
    else if (address) wrapped(link(address, ""), start + 1, label.length);
    else this.plain(parent, start, end);
  }
}

// A mark stays on the line of the word before it.
function stick(parent, mark) {
  const last = parent.lastChild;
  const word = last instanceof Text ? /\S{1,24}$/u.exec(last.data) : null;
  if (word) {
    last.data = last.data.slice(0, word.index);
    parent.append(element("span", word[0], "kept"));
  }
  (parent.lastChild?.className === "kept" ? parent.lastChild : parent).append(mark);
}

function blockNode(block, writer) {
  if (block.kind !== "code") {
    const node = element(block.kind);
    node.dir = "auto";
    if (block.number) node.value = block.number;
    writer.inline(node, block.from, block.to);
    writer.marksUpTo(node, Infinity);
    return node;
  }
  const node = element("div");
  const pre = element("pre");
  pre.tabIndex = 0;
  pre.append(element("code", writer.text.slice(block.from, block.to)));
  node.append(pre);
  writer.marksUpTo(node, Infinity);
  return node;
}

// An answer on the page; a block whose text and marks are as before keeps its node, so that
// selections and the focus stay while the answer grows.
class AnswerView {
  constructor(root, makeMark) {
    this.root = root;
    this.makeMark = makeMark;
    this.shown = [];
  }

  show(text, marks) {
    const blocks = blocksOf(text);
    const placed = blocks.map((block, place) => ({ block, marks: marksOf(marks, blocks, place) }));
    const keys = placed.map(({ block, marks: own }) => keyOf(text, block, own));
    let same = 0;
    while (same < keys.length && keys[same] === this.shown[same]?.key) same += 1;
    const focused = this.root.contains(document.activeElement) ? document.activeElement : null;
    this.remove(this.shown.splice(same));
    placed.slice(same).forEach((one, place) => this.add(text, one, keys[same + place]));
    if (focused && !focused.isConnected) this.refocus(focused.dataset.index);
  }

  add(text, { block, marks }, key) {
    const node = blockNode(block, new Writer(text, marks, this.makeMark));
    (block.kind === "li" ? this.listFor(block) : this.root).append(node);
    this.shown.push({ key, node });
  }

  remove(entries) {
    for (const { node } of entries) {
      const parent = node.parentNode;
      node.remove();
      if (parent !== this.root && !parent.hasChildNodes()) parent.remove();
    }
  }

  listFor({ number, inner }) {
    const last = this.root.lastElementChild;
    const name = number === null ? "ul" : "ol";
    if (last?.localName === name && last.classList.contains("inner") === inner) return last;
    const list = element(name, "", inner ? "inner" : "");
    this.root.append(list);
    return list;
  }

  refocus(index) {
    const marks = [...this.root.querySelectorAll("button.cite")];
    marks.findLast((mark) => mark.dataset.index === index)?.focus({ preventScroll: true });
  }
}

// A mark belongs to the last block that begins before it.
function marksOf(marks, blocks, place) {
  const from = place === 0 ? -1 : blocks[place].start;
  const to = blocks[place + 1]?.start ?? Infinity;
  return marks.filter(({ at }) => at > from && at <= to);
}

function keyOf(text, { kind, start, end }, marks) {
  return [kind, text.slice(start, end), ...marks.map(({ at, index }) => `${at - start}:${index}`)].join("\n");
}

// A place in code points, as the server counts, to one in UTF-16 units, as strings here count.
function unitsOf(text, points) {
  let place = 0;
  for (let left = points; left > 0 && place < text.length; left -= 1) place += text.codePointAt(place) > 0xffff ? 2 : 1;
  return place;
}

// A mark stands close to its words, though their sentence may end with a blank.
function beforeBlanks(text, place) {
  let at = place;
  while (at > 0 && /\s/.test(text[at - 1])) at -= 1;
  return at === 0 ? place : at;
}

// One question and what became of it

class Turn {
  constructor(question) {
    this.question = question;
    this.text = "";
    this.citations = [];
    this.found = new Map();
    this.calls = new Map();
    this.labels = [];
    this.begun = false;
    this.ended = false;
    this.conversation = null;
    this.drawing = 0;
    this.node = byId("turn").content.cloneNode(true).firstElementChild;
    this.part(".question").textContent = question;
    this.node.addEventListener("click", (event) => this.clicked(event));
    this.view = new AnswerView(this.part(".answer"), (index) => this.mark(index));
  }

  part(selector) {
    return this.node.querySelector(selector);
  }

  take({ event, data }) {
    if (event === "message") this.grow(wordsOf(data));
    else if (event === "thinking") this.think(wordsOf(data));
    else if (event === "citation") this.cite(data);
    else if (event === "search_results") this.find(data);
    else if (event === "tool_call") this.call(data);
    else if (event === "tool_result") this.result(data);
    else if (event === "final_answer") this.finish(data);
    else if (event === "error") throw new Failure(`The answer failed. ${said(data.error?.message)}`);
  }

  grow(words) {
    this.text += words;
    this.draw();
  }

  cite(citation) {
    const at = citation.end_index ?? citation.span?.end;
    if (!Number.isInteger(at)) return;
    this.citations.push({ ...citation, at, from: citation.start_index ?? citation.span?.start ?? at });
    this.draw();
  }

  find({ data }) {
    const lists = Object.values(data ?? {}).filter(Array.isArray);
    for (const one of lists.flat()) if (one?.id) this.found.set(String(one.id), one);
  }

  finish(data) {
    if (typeof data.generated_answer === "string") this.text = data.generated_answer;
    if (this.citations.length === 0) this.citeAll(data.citations);
    if (isText(data.conversation_id)) this.conversation = data.conversation_id;
    this.end(this.text.trim() === "" ? EMPTY : data.metadata?.truncated === true ? LENGTH : "");
  }

  // The final answer has its citations grouped by source.
  citeAll(sources) {
    for (const source of Array.isArray(sources) ? sources : []) {
      for (const span of source.spans ?? []) this.cite({ ...source, span });
    }
    this.citations.sort((one, other) => one.at - other.at);
  }

  // Draw at most once a frame; a page in the background has no frames, and draws at the end.
  draw() {
    this.drawing ||= requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    cancelAnimationFrame(this.drawing);
    this.drawing = 0;
    this.view.show(this.text, this.marks());
    this.listSources();
  }

  marks() {
    const seen = new Map();
    for (const citation of this.citations) {
      const mark = { at: beforeBlanks(this.text, unitsOf(this.text, citation.at)), index: this.indexOf(citation) };
      seen.set(`${mark.at}:${mark.index}`, mark);
    }
    return [...seen.values()].sort((one, other) => one.at - other.at || one.index - other.index);
  }

  indexOf({ index, id }) {
    if (Number.isInteger(index)) return index;
    return [...new Set(this.citations.map((citation) => citation.id))].indexOf(id) + 1;
  }

  mark(index) {
    const button = element("button", String(index), "cite");
    button.type = "button";
    button.dataset.index = index;
    button.setAttribute("aria-label", `Source ${index}: ${this.source(index).title}`);
    button.setAttribute("aria-haspopup", "dialog");
    const raised = element("sup");
    raised.append(button);
    return raised;
  }

  // All that is known of the source with this number.
  source(index) {
    const citations = this.citations.filter((citation) => this.indexOf(citation) === index);
    const payloads = citations.map((citation) => citation.payload).filter(Boolean);
    const all = [...citations, ...payloads, this.found.get(String(citations[0]?.source_id)) ?? {}];
    const first = (name) => all.map((one) => one[name]).find(isText);
    return {
      index,
      title: first("source_title") ?? first("title") ?? "Unnamed source",
      kind: KINDS[first("source_type")] ?? "Source",
      passage: first("text") ?? first("snippet") ?? "",
      url: webAddress(first("url")),
      cited: this.citedFor(citations),
    };
  }

  citedFor(citations) {
    const points = [...this.text];
    const words = citations.map(({ from, at }) => points.slice(from, at).join("").trim());
    return [...new Set(words.filter(isText))];
  }

  listSources() {
    const list = this.part(".sources ol");
    const indexes = [...new Set(this.citations.map((citation) => this.indexOf(citation)))].sort((a, b) => a - b);
    for (const index of indexes.slice(list.children.length)) {
      const button = element("button");
      button.type = "button";
      button.dataset.index = index;
      button.setAttribute("aria-haspopup", "dialog");
      button.append(element("span", String(index), "number"), element("span", this.source(index).title, "title"));
      const item = element("li");
      item.append(button);
      list.append(item);
    }
    this.part(".sources").hidden = indexes.length === 0;
  }

  think(words) {
    const list = this.part(".steps-list");
    if (list.lastElementChild?.localName !== "p") {
      list.append(element("p"));
      this.label("Thinking");
    }
    list.lastElementChild.append(words);
  }

  call({ tool_call_id, name, arguments: given }) {
    const label = TOOLS[name] ?? (isText(name) ? name : "Tool");
    const step = element("div");
    step.append(element("h3", label));
    if (isText(given)) step.append(element("pre", given));
    this.calls.set(tool_call_id, step);
    this.part(".steps-list").append(step);
    this.label(label);
  }

  result({ tool_call_id, content }) {
    if (!this.calls.has(tool_call_id)) this.call({ tool_call_id });
    if (isText(content)) this.calls.get(tool_call_id).append(element("pre", content));
  }

  label(words) {
    if (!this.labels.includes(words)) this.labels.push(words);
    this.part(".steps summary").textContent = this.labels.join(" · ");
    this.part(".steps").hidden = false;
  }

  end(words, bad = false) {
    this.ended = true;
    this.part(".progress").hidden = true;
    this.drawNow();
    const notice = this.part(".notice");
    notice.hidden = words === "";
    notice.classList.toggle("bad", bad);
    notice.querySelector("p").textContent = words;
  }

  clicked(event) {
    const button = event.target.closest("button");
    if (button?.dataset.index) sourcePanel.open(this, Number(button.dataset.index), button);
    else if (button?.closest(".notice")) chat.ask(this.question);
  }
}

function wordsOf(data) {
  const content = Array.isArray(data.delta?.content) ? data.delta.content : [];
  return content.map((part) => part?.payload?.value).filter(isText).join("");
}

function said(message) {
  return isText(message) ? `The server says: ${message}` : "The server does not say why.";
}

// The source that a citation opens; it does not block the page, so that one can read on

const sourcePanel = {
  node: byId("source"),
  opener: null,

  open(turn, index, opener) {
    const source = turn.source(index);
    this.opener?.setAttribute("aria-expanded", "false");
    this.opener = opener;
    opener.setAttribute("aria-expanded", "true");
    byId("source-kind").textContent = `${source.index} · ${source.kind}`;
    byId("source-title").textContent = source.title;
    this.fill("source-link", source.url && link(source.url, `Open ${source.url.host}`));
    byId("source-unknown").hidden = Boolean(source.url || source.passage || source.cited.length);
    this.fill("source-passage", source.passage && element("blockquote", source.passage));
    this.fill("source-cited", source.cited.length && quotes(source.cited));
    if (!this.node.open) this.node.show();
    this.node.scrollTop = 0;
    byId("source-title").focus();
  },

  // Put `content` in place of the last child; without content the part is not shown.
  fill(id, content) {
    const part = byId(id);
    part.hidden = !content;
    if (content) part.lastElementChild.replaceWith(content);
  },

  close() {
    if (!this.node.open) return;
    this.node.close();
    this.opener.setAttribute("aria-expanded", "false");
    (this.opener.isConnected ? this.opener : byId("question")).focus();
  },
};

function quotes(texts) {
  const list = element("ul");
  for (const text of texts) {
    const item = element("li", text);
    item.dir = "auto";
    list.append(item);
  }
  return list;
}

// The token, where the server wants one; it is kept in memory and is gone with the page

const login = {
  node: byId("login"),
  token: null,

  headers() {
    return this.token === null ? {} : { Authorization: `Bearer ${this.token}` };
  },

  // Ask for it; resolves to whether one was given.
  request() {
    byId("login-words").textContent =
      this.token === null ? "This server asks for a token before it answers." : "The server does not accept this token.";
    byId("token").value = "";
    this.node.returnValue = "";
    this.node.showModal();
    byId("token").focus();
    return new Promise((resolve) => {
      this.node.addEventListener("close", () => resolve(this.node.returnValue === "given"), { once: true });
    });
  },

  submit() {
    const given = byId("token").value.trim();
    if (!/^[\x21-\x7e]+$/.test(given)) {
      byId("login-words").textContent = "A token is one word of letters, digits and signs, without blanks.";
      return;
    }
    this.token = given;
    byId("token").value = "";
    this.node.close("given");
  },
};

// Asking

const chat = {
  id: null,
  turn: null,
  controller: null,

  get busy() {
    return this.turn !== null;
  },

  async ask(question) {
    if (this.busy || question.trim() === "") return;
    const turn = new Turn(question);
    const controller = new AbortController();
    this.begin(turn, controller);
    try {
      await this.answer(turn, controller.signal);
    } catch (error) {
      if (!turn.ended) this.failed(turn, error, controller.signal.aborted);
    }
  },

  async answer(turn, signal) {
    const response = await this.post(turn.question, signal);
    turn.begun = true;
    for await (const read of envelopesOf(response.body)) {
      if (turn.ended) continue;
      turn.take(read);
      if (turn.ended) this.whole(turn);
    }
    if (!turn.ended) throw new Failure(CUT);
  },

  async post(question, signal) {
    const asked = {
      query: question,
      stream: true,
      conversation: true,
      conversation_id: this.id,
      web_search: byId("web").checked,
    };
    for (;;) {
      const response = await fetch("api/rag", {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "text/event-stream", ...login.headers() },
        body: JSON.stringify(asked),
        cache: "no-store",
        signal,
      });
      if (response.status === 401 && (await login.request())) continue;
      if (!response.ok) throw new Failure(await refusal(response));
      if (!response.headers.get("content-type")?.startsWith("text/event-stream")) throw new Failure(UNREADABLE);
      return response;
    }
  },

  begin(turn, controller) {
    this.turn = turn;
    this.controller = controller;
    byId("welcome").hidden = true;
    byId("restart").hidden = false;
    byId("turns").append(turn.node);
    turn.node.scrollIntoView({ block: "start" });
    this.buttons();
    say("The question is sent. The answer is on its way.");
  },

  whole(turn) {
    if (this.turn === turn && turn.conversation) this.id = turn.conversation;
    const sources = turn.part(".sources ol").children.length;
    this.over(turn, `The answer is complete, with ${count(sources, "source")}.`);
  },

  failed(turn, error, stopped) {
    const reason = stopped ? STOPPED : error instanceof Failure ? error.message : lost(turn, error);
    const words = turn.text === "" ? reason : `${reason}\n${PARTIAL}`;
    turn.end(words, !stopped);
    turn.part(".notice").scrollIntoView({ block: "nearest" });
    this.over(turn, words);
  },

  over(turn, words) {
    if (this.turn !== turn) return;
    this.turn = this.controller = null;
    this.buttons();
    say(words);
  },

  // The button that is hidden hands its focus on.
  buttons() {
    const [send, stop] = [byId("send"), byId("stop")];
    const focused = document.activeElement;
    byId("web").disabled = this.busy || this.id !== null;
    send.hidden = this.busy;
    stop.hidden = !this.busy;
    if (focused === send) stop.focus();
    if (focused === stop) byId("question").focus();
  },

  stop() {
    this.controller?.abort();
  },

  restart() {
    this.stop();
    sourcePanel.close();
    this.turn = this.controller = this.id = null;
    byId("turns").replaceChildren();
    byId("welcome").hidden = false;
    byId("restart").hidden = true;
    this.buttons();
    byId("question").focus();
    say("A new conversation.");
  },
};

async function refusal(response) {
  const usual = response.status < 500 ? "The server refuses the question." : "The server failed.";
  const words = STATUS_WORDS[response.status] ?? usual;
  const body = await response.json().catch(() => null);
  return isText(body?.message) ? `${words}\n${said(body.message)}` : words;
}

function lost(turn, error) {
  if (!(error instanceof TypeError)) throw error;
  return turn.begun ? CUT : UNREACHABLE;
}

function say(words) {
  byId("status").textContent = words;
}

// What the user does

const question = byId("question");

function fit() {
  question.style.height = "auto";
  question.style.height = `${question.scrollHeight}px`;
}

function send() {
  if (chat.busy) return say("An answer is still coming. Escape stops it.");
  const words = question.value.trim();
  if (words === "") return question.focus();
  question.value = "";
  fit();
  chat.ask(words);
}

question.addEventListener("input", fit);
question.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  send();
});
byId("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
byId("stop").addEventListener("click", () => chat.stop());
byId("restart").addEventListener("click", () => chat.restart());
byId("source-close").addEventListener("click", () => sourcePanel.close());
byId("login-cancel").addEventListener("click", () => login.node.close());
login.node.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  login.submit();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing || login.node.open) return;
  if (chat.busy && !sourcePanel.node.contains(document.activeElement)) chat.stop();
  else sourcePanel.close();
});
