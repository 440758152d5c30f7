printf '# rulerank answers 1 0123abcd\nline\tdocid\tanswer\tlabeller\n' > pool.txt.answers
printf '%s\td%s\t%s\t%s\n' 7 7 2 Ann 7 7 2 Bob 4 4 0 Bob 4 4 1 Ann 9 9 1 Ann 9 9 0 Bob 9 9 1 Bob 5 5 2 Ann >> pool.txt.answers
