"""Doxygen's input filter: the plain comments of cleave.h as documentation of what they stand at. The header itself is
for people who read it from top to bottom, and stays free of marks.

    doxygen.py cleave.h

A comment before a declaration describes it, one behind a member describes the member, a banner begins a group, and the
first comment describes the file. One with nothing right below it describes nothing and stays as it is."""
import re
import sys

COMMENT = re.compile(r"^([^\n]*?)/\*(.*?)\*/", re.M | re.S)
BANNER = re.compile(r" -{20,}\n \* (\d+)  (.*?)\n(?: \*\n)?(.*)", re.S)


def escape(text):
    return re.sub(r"([<>&#@\\%])", r"\\\1", text)


def documented(header):
    is_open = False

    def document(match):
        nonlocal is_open
        code, text = match.groups()
        if match.start() == 0:
            return f"/** @file\n@verbatim{text}\n@endverbatim */"
        banner = BANNER.match(text)
        if banner:
            number, title, rest = banner.groups()
            end = "/** @} */\n" if is_open else ""
            is_open = True
            return f"{end}/** @defgroup section{number} {number}  {escape(title)}\n{escape(rest)}\n * @{{ */"
        below = header[match.end():]
        if not code.strip() and re.match(r"\n\n|\n\s*/\*", below):
            return match.group(0)
        return f"{code}/**{'<' if code.strip() else ''}{escape(text)}*/"

    text = COMMENT.sub(document, header)
    last = text.rindex("#ifdef __cplusplus")
    return text[:last] + "/** @} */\n" + text[last:]


with open(sys.argv[1]) as file:
    print(documented(file.read()))
