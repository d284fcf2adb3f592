"""The order office behind the sample server: its files and databases, and how they really fail."""

import asyncio
import ctypes
import math
import secrets
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import jwt

from ._partner import Partner, open_partner

STOCKTAKING_SECONDS = 0.6
MONTH_SECONDS = 0.08
DEADLINE_SECONDS = 0.8
PRODUCTS = {"chair": 40, "lamp": 12, "table": 7}
RATES = {("EUR", "USD"): 1.1, ("USD", "EUR"): 0.9}

_ORDERS = (
    ("ORD-1001", "lamp", 2, "shipped"),
    ("ORD-1002", "table", 1, "packed"),
    ("ORD-1003", "chair", 4, "failed delivery, sent again"),
)
_PAST_ERRORS = (("error", "TIMEOUT"), ("error", "RATE_LIMITED"))


class TokenBucket:
    """Holds *capacity* tokens and gains one every *seconds_per_token*."""

    def __init__(self, capacity: int, seconds_per_token: float) -> None:
        self._capacity = capacity
        self._seconds_per_token = seconds_per_token
        self._tokens = float(capacity)
        self._counted_at = time.monotonic()
        self._lock = threading.Lock()

    def take(self) -> int:
        """Take a token; return 0, or the whole seconds to wait when there is none to take."""
        with self._lock:
            now = time.monotonic()
            gained = (now - self._counted_at) / self._seconds_per_token
            self._tokens = min(self._capacity, self._tokens + gained)
            self._counted_at = now
            if self._tokens >= 1:
                self._tokens -= 1
                return 0
            return math.ceil((1 - self._tokens) * self._seconds_per_token)


class Office:
    """All state of one server process. A method raises what the thing it touches raised."""

    def __init__(self, directory: Path, partner: Partner) -> None:
        self.partner = partner
        self.currency_bucket = TokenBucket(2, seconds_per_token=2.0)
        self._orders = directory / "orders.db"
        self._stock = directory / "stock.db"
        self._count = directory / "count.db"
        self._invoices = directory / "invoices"
        self.printers = {name: directory / name for name in ("front desk", "warehouse")}
        self._signing_key = secrets.token_bytes(32)
        self._token = self._signed_token(valid_seconds=-60)
        self._booked_months: set[tuple[int, int]] = set()
        self._stocktaking_began = False
        self._stocktaking_guard = threading.Lock()
        self._at_end = ExitStack()
        self._fill()

    def _fill(self) -> None:
        with closing(sqlite3.connect(self._orders)) as db, db:
            db.execute("CREATE TABLE orders (order_id PRIMARY KEY, product, quantity, state)")
            db.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", _ORDERS)
            db.execute("CREATE TABLE archive (year)")
            db.executemany("INSERT INTO archive VALUES (?)", [(2023,), (2024,)])
            db.execute("CREATE TABLE errors (status, code)")
            db.executemany("INSERT INTO errors VALUES (?, ?)", _PAST_ERRORS)
        with closing(sqlite3.connect(self._stock)) as db, db:
            db.execute("CREATE TABLE stock (product PRIMARY KEY, quantity CHECK (quantity >= 0))")
            db.executemany("INSERT INTO stock VALUES (?, ?)", PRODUCTS.items())
        self._invoices.mkdir()
        for number, mode in (("INV-1001", 0o600), ("INV-1002", 0o000)):
            path = self._invoices / number
            path.write_text(f"Invoice {number}: 2 lamps, 59.80 EUR\n", encoding="utf-8")
            path.chmod(mode)

    def close(self) -> None:
        """End the stocktaking, if it still runs, so that the directory can be removed."""
        self._at_end.close()

    def reserve(self, product: str, quantity: int) -> None:
        """
        Take *quantity* from the stock.

        The first call of a process meets the stocktaking, which holds the database for
        `STOCKTAKING_SECONDS`. Nothing is taken then.

        Raises:
            sqlite3.OperationalError: The database is locked.
        """
        self._begin_stocktaking()
        with closing(sqlite3.connect(self._stock, timeout=0.05)) as db, db:
            db.execute(
                "UPDATE stock SET quantity = quantity - ? WHERE product = ?", (quantity, product)
            )

    def _begin_stocktaking(self) -> None:
        with self._stocktaking_guard:
            if self._stocktaking_began:
                return
            self._stocktaking_began = True
            holder = sqlite3.connect(self._stock, isolation_level=None, check_same_thread=False)
            holder.execute("BEGIN EXCLUSIVE")
            # Closing rolls back, which releases the lock.
            timer = threading.Timer(STOCKTAKING_SECONDS, holder.close)
            timer.daemon = True
            timer.start()
            # Last in, first out: no timer may fire while the connection closes.
            self._at_end.callback(holder.close)
            self._at_end.callback(timer.join)
            self._at_end.callback(timer.cancel)

    def count_stock(self) -> None:
        """Write the stock count that `counted` reads."""
        with closing(sqlite3.connect(self._count)) as db, db:
            db.execute("CREATE TABLE IF NOT EXISTS stock (product PRIMARY KEY, quantity)")
            db.executemany("INSERT OR REPLACE INTO stock VALUES (?, ?)", PRODUCTS.items())

    def counted(self, product: str) -> int:
        """
        Read the stock count.

        Raises:
            sqlite3.OperationalError: Nobody counted yet, so there is no such file.
        """
        with closing(sqlite3.connect(f"{self._count.as_uri()}?mode=ro", uri=True)) as db:
            row = db.execute("SELECT quantity FROM stock WHERE product = ?", (product,)).fetchone()
        return int(row[0])

    def sign_in(self) -> None:
        """Replace the session token, which expired before this process began, by a fresh one."""
        self._token = self._signed_token(valid_seconds=3600)

    def signed_in_user(self) -> str:
        """Check the session token. Raises: jwt.ExpiredSignatureError."""
        return str(jwt.decode(self._token, self._signing_key, algorithms=["HS256"])["sub"])

    def _signed_token(self, *, valid_seconds: int) -> str:
        claims = {"sub": "clerk", "exp": int(time.time()) + valid_seconds}
        return jwt.encode(claims, self._signing_key, algorithm="HS256")

    async def sum_month(self, year: int, month: int) -> None:
        """Book one month, slowly; booked months are kept, so the next report gets further."""
        if (year, month) not in self._booked_months:
            await asyncio.sleep(MONTH_SECONDS)
            self._booked_months.add((year, month))

    def read_invoice(self, number: str) -> str:
        """
        Read an invoice.

        Raises:
            PermissionError: The file has mode 000.
            FileNotFoundError: There is no such invoice.
        """
        # A thread of its own: what it gives up, it cannot get back.
        with ThreadPoolExecutor(1, initializer=_give_up_privileges) as clerk:
            return clerk.submit((self._invoices / number).read_text, encoding="utf-8").result()

    def print_label(self, order_id: str, printer: str | None) -> None:
        """Print a label. Raises: KeyError, when there is no such printer."""
        with self.printers[printer or ""].open("a", encoding="utf-8") as paper:
            paper.write(f"{order_id}\n")

    def orders(self) -> list[tuple[str, str, int, str]]:
        """Read all orders, oldest first."""
        with closing(sqlite3.connect(self._orders)) as db:
            return db.execute("SELECT * FROM orders ORDER BY order_id").fetchall()

    def add_order(self, product: str, quantity: int) -> str:
        """Add an order and return its id."""
        with closing(sqlite3.connect(self._orders)) as db, db:
            (count,) = db.execute("SELECT count(*) FROM orders").fetchone()
            order_id = f"ORD-{1001 + count}"
            db.execute("INSERT INTO orders VALUES (?, ?, ?, 'new')", (order_id, product, quantity))
        return order_id

    def past_errors(self) -> list[tuple[str, str]]:
        """Read the errors of last week, as the office wrote them down."""
        with closing(sqlite3.connect(self._orders)) as db:
            return db.execute("SELECT status, code FROM errors").fetchall()

    def delete_archive(self, year: int) -> None:
        """
        Delete a year of the archive.

        Raises:
            sqlite3.DatabaseError: Not authorized; the office's connection may never delete.
        """
        with closing(sqlite3.connect(self._orders)) as db, db:
            db.set_authorizer(_refuse_deletes)
            db.execute("DELETE FROM archive WHERE year = ?", (year,))


def _refuse_deletes(action: int, *_details: object) -> int:
    return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_DELETE else sqlite3.SQLITE_OK


def _give_up_privileges() -> None:
    """
    Make mode bits count for the current thread also when the process runs as root.

    Root may read a file of mode 000 because of its capabilities, which Linux keeps per thread:
    a thread without them is refused like everybody else. Giving up is always allowed, and for a
    normal user it changes nothing. Elsewhere root keeps its rights, and the invoice is read.
    """
    if sys.platform == "linux":  # pragma: no branch -- the only place where threads can do this
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this thread
        none_of_them = (ctypes.c_uint32 * 6)()
        ctypes.CDLL(None).capset(header, none_of_them)


@contextmanager
def open_office() -> Iterator[Office]:
    """Open an office in a temporary directory; close it and remove the directory at the end."""
    with TemporaryDirectory(prefix="order-office-") as directory, open_partner() as partner:
        office = Office(Path(directory), partner)
        try:
            yield office
        finally:
            office.close()
