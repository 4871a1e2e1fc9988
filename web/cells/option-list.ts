import type { Choice } from '../../src/core/fields/choices.ts'

/** Most options that the list draws; typing finds the others. */
const MAX_SHOWN = 200

/** A line of the list: an option, or the offer to make one of what was typed. */
export type OptionLine = { kind: 'option'; choice: Choice } | { kind: 'create'; title: string }

/**
 * The options that fit what was typed: those that begin with it first, then those that hold it, each in
 * the field's own order. A text that is no option's title ends in the offer to create it.
 */
export function optionLines(choices: Choice[], typed: string, canCreate: boolean): OptionLine[] {
  const wanted = typed.trim().toLocaleLowerCase()
  const starting: Choice[] = []
  const holding: Choice[] = []
  let isTitle = false
  for (const choice of choices) {
    const title = choice.title.toLocaleLowerCase()
    if (title === wanted) isTitle = true
    if (title.startsWith(wanted)) starting.push(choice)
    else if (title.includes(wanted)) holding.push(choice)
  }
  const shown = [...starting, ...holding].slice(0, MAX_SHOWN)
  const lines: OptionLine[] = shown.map((choice) => ({ kind: 'option', choice }))
  if (canCreate && wanted !== '' && !isTitle) lines.push({ kind: 'create', title: typed.trim() })
  return lines
}
