"""The tool for files: `mistral_file_upload`."""

from __future__ import annotations

from typing import Optional

import attr

from ._declaring import Declaration, Outcome, Task
from ._fields import field
from ._uploading import NAME, PATH, TEXT, upload_of

VISIBILITIES = ["user", "workspace"]


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class FileUpload:
    """The arguments of `mistral_file_upload`."""

    path: Optional[str] = field(PATH, None, minLength=1)
    text: Optional[str] = field(TEXT, None, minLength=1)
    name: Optional[str] = field(NAME, None, minLength=1)
    purpose: Optional[str] = field(
        "What it is for; the server's default if left out.",
        None,
        enum=["ocr", "batch", "fine-tune"],
    )
    visibility: str = field(
        "Who sees it: only the user, or the whole workspace. Ask before you share it.",
        "user",
        enum=VISIBILITIES,
    )


@attr.s(auto_attribs=True, frozen=True, kw_only=True)
class FileOutput:
    """What `mistral_file_upload` gives."""

    file_id: str = field("The file's id.")
    name: Optional[str] = field("Its file name.", None)
    size: Optional[int] = field("Its size in bytes.", None)
    purpose: Optional[str] = field("What it is for.", None)
    visibility: str = field("Who sees it: user or workspace.")


def _upload(task: Task, asked: FileUpload) -> Outcome:
    with upload_of(task.files, asked.path, asked.text, asked.name) as (file, _):
        made = task.client.files.upload(
            file, purpose=asked.purpose, visibility=asked.visibility, signal=task.signal
        )
    output = FileOutput(
        file_id=made.id,
        name=made.filename,
        size=made.size,
        purpose=made.purpose,
        visibility=made.visibility or asked.visibility,
    )
    words = f"Uploaded {output.name} as file {made.id}, visible to the {output.visibility}."
    return Outcome(words, output, {"file_id": made.id, "visibility": output.visibility})


FILE_UPLOAD = Declaration(
    name="mistral_file_upload",
    title="Upload a file",
    description="Upload a file to Mistral's Files API, for OCR, batch jobs or fine-tuning. "
    "Costs money: storage and later processing are billed. To ask questions of a document, use "
    "mistral_document_upload instead. Only the user sees the file unless visibility is workspace.",
    arguments=FileUpload,
    output=FileOutput,
    run=_upload,
)
