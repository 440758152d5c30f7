printf 'q1 Q0 wing 1 9.0 text\nq1 Q0 flap 2 7.5 text\nq1 Q0 slat 3 7.0 text\n' > text.run
printf 'q1 Q0 slat 1 0.9 dense\nq1 Q0 tail 2 0.8 dense\nq1 Q0 wing 3 0.1 dense\n' > dense.run
