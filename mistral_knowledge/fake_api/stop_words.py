"""Words that say nothing about what a question is about. Not those that mean something elsewhere:
German `die` and `hat`, Spanish `son` and French `comment` are English words too.
"""

from __future__ import annotations

_ENGLISH = """
a about above after again all also am an and any are as at be been before being below between both
but by can cannot could did do does doing done down during each few for from further had has have
having he her here hers him his how i if in into is it its itself just let me more most my no nor
not of off on once only or other our ours out over own please same say says she should so some such
tell than that the their theirs them then there these they this those through to too under until up
us very was we were what when where which while who whom whose why will with would you your yours
don t s re ve ll
"""
_FRENCH = """
au aux avec ce ces cette dans de des du elle elles en est et eux il ils je la le les leur lui ma
mais mes moi mon ne nos notre nous ou où par pas pour qu que quel quelle quelles quels qui quoi sa
se ses si sont sur ta te tes toi tu un une vos votre vous y pourquoi quand d l
"""
_GERMAN = """
aber als auch auf aus bei bis bist da damit dann das dass dein dem der des dich diese diesem diesen
dieser dieses dir doch durch ein eine einem einen einer eines er es für hatte ich ihm ihn ihr ihre
im ist ja jede jeder kann kein keine mich mir mit nach nicht noch nur oder ohne sein seine sich sie
sind und uns unser vom von vor wann warum wenn wer werden wie wir wird wo zu zum zur
"""
_SPANISH = """
al como con cual cuál cuando cuándo del donde dónde el ella ellas ellos eran eres esa ese eso esta
está este esto fue han hay las lo los más mi muy o para pero porque qué quien quién según ser sí
sobre su sus también tiene todo una unas uno unos
"""

STOP_WORDS = frozenset("".join((_ENGLISH, _FRENCH, _GERMAN, _SPANISH)).split())
