"""One road for three kinds of stream: lead a method over its stream and record what it says on the way."""
