"""One figure for each kind of limit on what comes from outside: programs under test, files, stores, child processes.

Ordinary use reaches none of them. They keep hostile or broken input from filling a screen, the memory or the time. A
place that needs another figure says why in a comment.
"""

from __future__ import annotations

#: Bytes.
MEBIBYTE = 2**20

# What people read

#: Names, lines or findings before "and n more": GitHub shows as many annotations of a kind, and a terminal half of its
#: height.
LISTED_MAX = 10
#: Lines of a program, a source or a state in one place: a screen of the largest kind.
LINES_MAX = 60
#: Columns of a program that is written.
WIDTH = 100
#: Rows of a table or a page. The JSON documents have all of them.
ROWS_MAX = 200
#: Characters of a value that is quoted within a line.
VALUE_CHARS_MAX = 100
#: Characters of a name, or of a line: two lines of a terminal.
LINE_CHARS_MAX = 200
#: Characters of a message in a file; docs/reference names this figure for traces and runs.
MESSAGE_CHARS_MAX = 500
#: Characters of a result, an output or a log that is recorded with each step.
RECORDED_CHARS_MAX = 2_000
#: Characters of a whole text: an error's message, a line of a program, the state of a machine.
TEXT_CHARS_MAX = 100_000
#: Characters of a traceback: a recursion of a thousand frames takes 110,000.
TRACEBACK_CHARS_MAX = 1_000_000

# What is read

#: Bytes of a file, a message or an answer of a child; docs/reference/trace-file.md names this figure. The largest seen
#: have a few MiB.
INPUT_BYTES_MAX = 256 * MEBIBYTE
#: Bytes of a source file: twenty times the largest module of the standard library.
SOURCE_BYTES_MAX = 16 * MEBIBYTE
#: Bytes that are read from a pipe or sent at once.
PART_BYTES = 2**15
#: Files or folders that are looked at in a project.
FILES_MAX = 2_000
#: Larger integers are written in hexadecimal and not learned from: Python reads and writes decimal digits too slowly,
#: or refuses to.
INTEGER_BITS_MAX = 1_024
#: Seeds are unsigned numbers of 64 bits.
SEED_MAX = 2**64 - 1
#: Counts travel to the engine as signed numbers of 64 bits.
COUNT_MAX = 2**63 - 1

# How far values are walked

#: Items of a collection, an iteration or a chain that are looked at.
ITEMS_MAX = 100
#: How deep values and strategies may nest: twenty in each other, each in a container.
DEPTH_MAX = 40
#: How deep a state that is shown or compared goes: readers follow no longer path.
SHOWN_DEPTH_MAX = 6
#: Parts of a value in all.
PARTS_MAX = 5_000
#: Entries of a cache. When there are more, all are forgotten.
CACHED_MAX = 4_096

# Processes and time

#: Seconds that a child may take beyond its time, to start, import and report on a busy machine.
GRACE_SECONDS = 30.0
#: Seconds until a killed process counts as one that cannot be killed.
KILL_SECONDS = 2.0
#: How often in a row something may fail before it is not tried again.
TRIES_MAX = 3
#: Seconds that a store or a cluster may take to answer: people wait for it.
ANSWER_SECONDS = 5.0
#: Seconds between two looks at whether a process has ended.
LOOK_SECONDS = 0.1
#: Seconds between two reports of progress: people see no finer.
REPORT_SECONDS = 0.2
#: Seconds between two writes of a state that other processes read.
STATUS_SECONDS = 1.0
#: MiB of memory of a child that runs code under test, if no limit was chosen.
CHILD_MEMORY_MIB = 4_096
