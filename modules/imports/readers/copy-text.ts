/** Copies a text, because a slice keeps the whole chunk of the file in memory that it was cut from. */
export const copyText = (text: string): string => Buffer.from(text).toString()
