printf 'milk,bread\nmilk,bread,green tea\nbread,butter\nmilk,green tea\nmilk,bread,butter\nmilk,bread\n' > baskets.txt
rulerank sample --documents 2000 --features 10 --queries 60 --fold-count 1 --out-dir drawn --quiet
mv drawn/Fold1 .
