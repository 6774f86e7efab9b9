"""textual: the lines of a document that is wrapped again around each edit, compared with wrapping all of it."""

from hypothesis import strategies as st
from textual.document._document import Document
from textual.document._wrapped_document import WrappedDocument
from textual.geometry import Offset

from ordeal.model import Incremental, op

REQUIREMENTS = (
    "textual==8.2.8 rich==15.0.0 pygments markdown-it-py mdurl platformdirs typing_extensions mdit-py-plugins "
    "linkify-it-py uc-micro-py"
)
MODULES = ["textual.document"]
rows, columns = st.integers(0, 4), st.integers(0, 6)
texts = st.text("a b\n\t", max_size=6)


class Wrapped(Incremental):
    """The wrapping that is mended around each edit, beside one of the whole document."""

    def impl():
        return WrappedDocument(Document("a b"), 4)

    source = list

    def scratch(self, _source):
        return WrappedDocument(Document(self.impl.document.text), self.impl._width)

    def place(self, row, column):
        row = min(row, self.impl.document.line_count - 1)
        return row, min(column, len(self.impl.document.get_line(row)))

    @op(row=rows, column=columns, to_row=rows, to_column=columns, text=texts)
    def replace(self, row, column, to_row, to_column, text):
        start, end = sorted((self.place(row, column), self.place(to_row, to_column)))
        done = self.impl.document.replace_range(start, end, text)
        self.impl.wrap_range(start, end, done.end_location)

    @op(width=st.integers(0, 6))
    def rewrap(self, width):
        self.impl.wrap(width)

    def view(self, impl):
        return (
            impl.lines,
            impl.height,
            [
                [impl.location_to_offset(impl.offset_to_location(Offset(x, y))) for x in range(3)]
                for y in range(impl.height)
            ],
            impl._tab_width_cache,
        )


CLEAN = [Wrapped]
