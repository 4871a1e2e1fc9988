import { isEmail } from '../fields/checked-text.ts'

/** Most addresses that each answer to a form is mailed to. */
export const MAX_ANSWER_RECIPIENTS = 10

/** The addresses of a form's `emailTo`, each once. */
export function answerRecipients(emailTo: string | null): string[] {
  const byKey = new Map<string, string>()
  for (const part of (emailTo ?? '').split(',')) {
    const address = part.trim()
    if (isEmail(address) && !byKey.has(address.toLowerCase())) byKey.set(address.toLowerCase(), address)
  }
  return [...byKey.values()].slice(0, MAX_ANSWER_RECIPIENTS)
}

/** What is wrong with an `emailTo`, in words; null where nothing is. */
export function recipientsProblem(emailTo: string | null): string | null {
  if (emailTo === null || emailTo.trim() === '') return null
  const parts = emailTo.split(',').map((part) => part.trim())
  const wrong = parts.find((part) => !isEmail(part))
  if (wrong !== undefined) return `“${wrong.slice(0, 60)}” is not a valid email address`
  return parts.length > MAX_ANSWER_RECIPIENTS
    ? `Responses can be emailed to up to ${MAX_ANSWER_RECIPIENTS} addresses`
    : null
}
