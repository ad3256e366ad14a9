# cmake -DINPUT=FILE -DOUTPUT=FILE.cpp -DNAME=constant -DNAMESPACE=a::b -DHEADER=path -P EmbedText.cmake
# writes a C++ file that defines the text of INPUT as a constant.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\nconst char ${NAMESPACE}::${NAME}[] = {${bytes}0};\n")
