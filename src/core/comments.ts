import type { RecordId } from './model.ts'

/** Longest comment, in characters of its Markdown (wire §12). */
export const MAX_COMMENT_LENGTH = 3_000
/** Characters at the end of a part of a long comment among which it may end with a word. */
const WORD = 200

/** The reactions that a comment can get. */
export const REACTIONS = ['👍', '❤️', '🎉', '😄', '👀', '✅'] as const
export type Reaction = (typeof REACTIONS)[number]

/** A comment as the web app shows it. */
export interface RecordComment {
  id: string
  tableId: string
  recordId: string
  /** The field of a commented cell; null: the comment is on the record. */
  fieldId: string | null
  /** The comment that it replies to; null: it begins a thread. */
  parentId: string | null
  /** Markdown. */
  text: string
  createdBy: string
  /** Name of the author elsewhere, if they have no account here: `createdBy` has imported the comment. */
  authorName: string | null
  /** ISO 8601. */
  createdAt: string
  /** When the text was last changed; null: never. */
  updatedAt: string | null
  /** Who ended the thread; null while it is open, and for replies. */
  resolvedBy: string | null
  reactions: { emoji: Reaction; userIds: string[] }[]
}

/** A comment on a record was written, changed or removed. */
export interface CommentNews {
  baseId: string
  tableId: string
  recordId: string
}

/** The key of a record's comments. */
export const commentKey = (recordId: RecordId): string => String(recordId)

/** A text in parts that comments can hold, between words where that is possible: at least one. */
export function splitComment(text: string): string[] {
  const parts: string[] = []
  let rest = text
  while (rest.length > MAX_COMMENT_LENGTH) {
    const end = endOfPart(rest)
    parts.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  return [...parts, rest]
}

function endOfPart(text: string): number {
  const from = MAX_COMMENT_LENGTH - WORD
  const end = text.slice(from, MAX_COMMENT_LENGTH)
  const space = Math.max(end.lastIndexOf(' '), end.lastIndexOf('\n'))
  if (space >= 0) return from + space + 1
  // Not between the halves of an emoji.
  const isHalf = (text.codePointAt(MAX_COMMENT_LENGTH - 1) ?? 0) > 0xffff
  return MAX_COMMENT_LENGTH - (isHalf ? 1 : 0)
}
