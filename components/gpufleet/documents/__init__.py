"""Files and answers from outside, read in one way: YAML in `yaml.py`, JSON in `json.py`, their bytes in `content.py`.

Every error is a DocumentError of one line: `<where>: line <n>: <what is wrong>; <fix>`.
"""
