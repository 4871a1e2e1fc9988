import type { Person } from './fields/people.ts'

/**
 * A person mentioned in a comment's Markdown, stored as `@(us3k…)`. Clients may write an address and a name after the id,
 * as they get them from REST: `@(us3k…|ann@example.com|Ann)`.
 */
const MENTION = /@\((us\w{1,60})((?:\|[^()|\n]{0,320}){0,2})\)/g

/** What every mention begins with. */
export const MENTION_START = '@(us'

/** The ids of the people that a text mentions, each once. */
export const mentionsIn = (text: string): string[] => [
  ...new Set([...text.matchAll(MENTION)].map(([, id = '']) => id)),
]

/** A text with each mention replaced; `label` is the name that a client wrote with it, or empty. */
export const replaceMentions = (text: string, replace: (userId: string, label: string) => string): string =>
  text.replace(MENTION, (_, id: string, rest: string) => {
    const [, email = '', name = ''] = rest.split('|')
    return replace(id, name.trim() || email.trim())
  })

/** The mention of a person as it is stored. */
export const mentionOf = (userId: string): string => `@(${userId})`

/** A mention that tells readers without a list of people who is meant. */
export const readableMention = ({ id, email, displayName }: Person): string =>
  `@(${id}|${inMention(email)}|${inMention(displayName ?? '')})`

const inMention = (text: string): string => text.replace(/[()|\n]/g, ' ').trim()

/** A text in pieces: plain text, and the ids of those whom it mentions in between. */
export function splitMentions(text: string): (string | { userId: string })[] {
  const pieces: (string | { userId: string })[] = []
  let end = 0
  for (const found of text.matchAll(MENTION)) {
    pieces.push(text.slice(end, found.index), { userId: found[1] ?? '' })
    end = found.index + found[0].length
  }
  return [...pieces, text.slice(end)].filter((piece) => piece !== '')
}
