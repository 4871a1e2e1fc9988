import { type Choice, titlesIn } from '../../../src/core/fields/choices.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { hasChoices, hasSingleChoice } from '../../../src/core/fields/traits.ts'
import type { FieldDefinition } from './definition.ts'

type Kind = Pick<FieldDefinition, 'type' | 'options'>

/** The options of a select field. */
export const choicesOf = ({ options }: Pick<Kind, 'options'>): Choice[] =>
  Array.isArray(options.choices) ? (options.choices as Choice[]) : []

/**
 * The new definition with options that keep their ids: one that comes without an id but with a title
 * that was there is the same option, not another of that name.
 */
export function withKeptIds<T extends Kind>(before: Kind, after: T): T {
  if (!hasChoices(before) || !hasChoices(after)) return after
  const wanted = new Set(choicesOf(after).map((choice) => choice.id))
  const left = new Map(choicesOf(before).flatMap((old) => (wanted.has(old.id) ? [] : [[old.title, old.id]])))
  const choices = choicesOf(after).map((choice) => {
    const isKnown = choicesOf(before).some((old) => old.id === choice.id)
    return { ...choice, id: (isKnown ? undefined : left.get(choice.title)) ?? choice.id }
  })
  return { ...after, options: { ...after.options, choices } }
}

/**
 * What happens to cells when the options of a select field change: a renamed option renames its
 * values, a removed one leaves its cells empty. Null where every cell stays as it is.
 */
export function choiceRewriter(before: Kind, after: Kind): ((value: CellValue) => CellValue) | null {
  if (before.type !== after.type || !hasChoices(before)) return null
  const renamed = changedTitles(before, after)
  if (renamed.size === 0) return null
  const rename = (title: string) => (renamed.has(title) ? (renamed.get(title) ?? null) : title)
  if (hasSingleChoice(before)) return (value) => (value === null ? null : rename(String(value)))
  return (value) => {
    if (value === null) return null
    const kept = titlesIn(String(value))
      .map(rename)
      .filter((title) => title !== null)
    return kept.length === 0 ? null : [...new Set(kept)].join(',')
  }
}

/** The titles that options have had, each with the one that it has now; null where the option is gone. */
function changedTitles(before: Kind, after: Kind): Map<string, string | null> {
  const titles = new Map(choicesOf(after).map((choice) => [choice.id, choice.title]))
  const changed = new Map<string, string | null>()
  for (const { id, title } of choicesOf(before)) {
    const now = titles.get(id) ?? null
    if (now !== title) changed.set(title, now)
  }
  return changed
}

/** The new title of each option of a select field that has got another one, by the title before. */
export function renamedChoices(before: Kind, after: Kind): Map<string, string> {
  const renamed = new Map<string, string>()
  if (!hasChoices(before) || !hasChoices(after)) return renamed
  for (const [title, now] of changedTitles(before, after)) if (now !== null) renamed.set(title, now)
  return renamed
}

/**
 * The options after taking back a change of them: as they were, with those that others have added
 * since, and with those of the change itself that records use by now.
 */
export function revertChoices(
  current: Kind,
  before: Kind,
  after: Kind,
  usedTitles: ReadonlySet<string>,
): Choice[] {
  const restored = choicesOf(before)
  const known = new Set(restored.map((choice) => choice.id))
  const made = new Set(choicesOf(after).map((choice) => choice.id))
  const kept = choicesOf(current).filter(
    (choice) => !known.has(choice.id) && (!made.has(choice.id) || usedTitles.has(choice.title)),
  )
  const titles = new Set(restored.map((choice) => choice.title))
  return [...restored, ...kept.filter((choice) => !titles.has(choice.title))]
}
