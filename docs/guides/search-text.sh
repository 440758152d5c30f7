printf '1 1:0.9 7:0.2 # docid = apple\n1 1:0.7 3:0.5 # docid = pear\n-1 3:0.1 12:1.5 # docid = nail\n' > train.svm
printf '1 1:2 3:0.4\n-1 7:0.1 12:3\n' > test.svm
