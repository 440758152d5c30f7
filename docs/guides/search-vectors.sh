python3 - <<END
import random, struct
random.seed(2)
for name, rows in ("base.npy", 6), ("queries.npy", 2):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 4), }" % rows
    header += " " * (117 - len(header)) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        for _ in range(rows):
            file.write(struct.pack("<4f", *[random.gauss(0, 1) for _ in range(4)]))
END
printf '%s\n' apple pear plum fig quince medlar > ids.txt
