/** A block of a mail. All text is plain and escaped; it never contains markup. */
export type MailBlock =
  | { kind: 'text'; text: string }
  /** Labels with values, one per line. */
  | { kind: 'list'; items: { label: string; value: string }[] }
  | { kind: 'link'; label: string; url: string }

/** Content of a mail, rendered as plain text and as HTML. */
export interface MailContent {
  subject: string
  blocks: MailBlock[]
  /** Address to which mail programs post to end such mails, without a page in between (RFC 8058). */
  unsubscribe?: string
}

/** Maximum length of a subject, in characters. */
const MAX_SUBJECT = 200

/** Reduces a subject to one line: it may hold user input, and a line break would start another header. */
export function subjectLine(subject: string): string {
  const line = subject.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  const letters = [...line]
  return letters.length > MAX_SUBJECT ? `${letters.slice(0, MAX_SUBJECT - 1).join('')}…` : line
}

/** The mail for programs that show no HTML. */
export const textOf = ({ blocks }: MailContent): string => `${blocks.map(textOfBlock).join('\n\n')}\n`

/** The mail as HTML without scripts and external resources. */
export function htmlOf({ blocks }: MailContent): string {
  const style = 'font:15px/1.5 system-ui,sans-serif;color:#1d2433;max-width:640px;padding:16px'
  return `<!doctype html><html><head><meta charset="utf-8"></head><body><div dir="auto" style="${style}">${blocks.map(htmlOfBlock).join('')}</div></body></html>`
}

function textOfBlock(block: MailBlock): string {
  if (block.kind === 'text') return block.text
  if (block.kind === 'link') return `${block.label}:\n${block.url}`
  return block.items.map(({ label, value }) => `${label}\n${indented(value)}`).join('\n\n')
}

/** Indents every line of an answer, so that it cannot be mistaken for a question's name. */
const indented = (text: string): string => text.replace(/^/gm, '    ')

function htmlOfBlock(block: MailBlock): string {
  if (block.kind === 'text') return `<p style="white-space:pre-wrap">${escapeHtml(block.text)}</p>`
  if (block.kind === 'link') {
    const label = escapeHtml(block.label)
    return `<p><a href="${escapeHtml(block.url)}">${label}</a><br><span style="color:#5b6478;font-size:13px">${escapeHtml(block.url)}</span></p>`
  }
  const items = block.items.map(
    ({ label, value }) =>
      `<dt dir="auto" style="color:#5b6478;margin-block-start:12px">${escapeHtml(label)}</dt><dd dir="auto" style="margin:0;white-space:pre-wrap;overflow-wrap:anywhere">${escapeHtml(value)}</dd>`,
  )
  return `<dl>${items.join('')}</dl>`
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? '')
