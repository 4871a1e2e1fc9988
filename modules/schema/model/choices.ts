import { titlesIn } from '../../../src/core/fields/choice-titles.ts'
import type { Choice } from '../../../src/core/fields/choices.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { hasChoices, hasSingleChoice } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'

type TypeAndOptions = Pick<Field, 'type' | 'options'>

/** The options of a select field. */
export const choicesOf = ({ options }: Pick<TypeAndOptions, 'options'>): Choice[] =>
  Array.isArray(options.choices) ? (options.choices as Choice[]) : []

/** The new definition, in which an option with a new id but the title of a missing old option takes over its id. */
export function withKeptIds<T extends TypeAndOptions>(before: TypeAndOptions, after: T): T {
  if (!hasChoices(before) || !hasChoices(after)) return after
  const used = new Set(choicesOf(after).map((choice) => choice.id))
  const unused = new Map(choicesOf(before).flatMap((old) => (used.has(old.id) ? [] : [[old.title, old.id]])))
  const choices = choicesOf(after).map((choice) => {
    const isKnown = choicesOf(before).some((old) => old.id === choice.id)
    return { ...choice, id: (isKnown ? undefined : unused.get(choice.title)) ?? choice.id }
  })
  return { ...after, options: { ...after.options, choices } }
}

/**
 * Rewrites cells after a change of select options: a renamed option renames its values, a removed one empties its cells.
 * Null if no cell changes.
 */
export function choiceRewriter(
  before: TypeAndOptions,
  after: TypeAndOptions,
): ((value: CellValue) => CellValue) | null {
  if (before.type !== after.type || !hasChoices(before)) return null
  const renamed = changedTitles(before, after)
  if (renamed.size === 0) return null
  const rename = (title: string) => (renamed.has(title) ? (renamed.get(title) ?? null) : title)
  if (hasSingleChoice(before)) return (value) => (value === null ? null : rename(String(value)))
  return (value) => {
    if (value === null) return null
    const titles = titlesIn(String(value))
      .map(rename)
      .filter((title) => title !== null)
    return titles.length === 0 ? null : [...new Set(titles)].join(',')
  }
}

/** The old titles of changed options with the new ones; null for a removed option. */
function changedTitles(before: TypeAndOptions, after: TypeAndOptions): Map<string, string | null> {
  const titles = new Map(choicesOf(after).map((choice) => [choice.id, choice.title]))
  const changed = new Map<string, string | null>()
  for (const { id, title } of choicesOf(before)) {
    const now = titles.get(id) ?? null
    if (now !== title) changed.set(title, now)
  }
  return changed
}

/** The new titles of renamed options, by their old titles. */
export function renamedChoices(before: TypeAndOptions, after: TypeAndOptions): Map<string, string> {
  const renamed = new Map<string, string>()
  if (!hasChoices(before) || !hasChoices(after)) return renamed
  for (const [title, now] of changedTitles(before, after)) if (now !== null) renamed.set(title, now)
  return renamed
}

/**
 * The options after the undo of a change: the old ones, plus those that others have added since, plus those that the
 * change added and records use by now.
 */
export function revertChoices(
  current: TypeAndOptions,
  before: TypeAndOptions,
  after: TypeAndOptions,
  usedTitles: ReadonlySet<string>,
): Choice[] {
  const restored = choicesOf(before)
  const known = new Set(restored.map((choice) => choice.id))
  const fromChange = new Set(choicesOf(after).map((choice) => choice.id))
  const later = choicesOf(current).filter(
    (choice) => !known.has(choice.id) && (!fromChange.has(choice.id) || usedTitles.has(choice.title)),
  )
  const titles = new Set(restored.map((choice) => choice.title))
  return [...restored, ...later.filter((choice) => !titles.has(choice.title))]
}
