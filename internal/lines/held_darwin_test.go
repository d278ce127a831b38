package lines

// bytesHeld asks how many bytes wait in a pipe: FIONREAD.
const bytesHeld = 0x4004667f
