import { type ChoiceTitles, titlesIn } from '../../../src/core/fields/choice-titles.ts'
import { type Choice, mergeChoices } from '../../../src/core/fields/choices.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { readOptions } from '../../../src/core/fields/index.ts'
import { hasChoices, hasSingleChoice } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import { restoreKeys } from './restore-keys.ts'

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
 * The new definition with the options that others have added, and the changes that they have made, since its sender read
 * the field.
 *
 * @param seen the options that the sender had read: what differs from them is the sender's change; absent: the new
 *   definition as it is
 * @throws BAD_REQUEST if an option of others has the title of one of the sender's
 */
export function withOthersChoices<T extends TypeAndOptions>(
  current: TypeAndOptions,
  after: T,
  seen: readonly Choice[] | undefined,
): T {
  if (seen === undefined || !hasChoices(current) || !hasChoices(after)) return after
  const choices = mergeChoices(choicesOf(after), seen, choicesOf(current))
  return { ...after, options: readOptions(after.type, { ...after.options, choices }) }
}

/**
 * Rewrites cells after a change of select options: a renamed option renames its values, a removed one empties its cells.
 * Null if no cell changes.
 */
export function choiceRewriter(before: TypeAndOptions, after: TypeAndOptions): Rewrite | null {
  if (before.type !== after.type || !hasChoices(before)) return null
  return rewriterOf(before, changedTitles(before, after))
}

/** What has become of the options of a select field. */
export interface FormerChoices {
  /** Whether its values were lists of titles. */
  isList: boolean
  /** The present titles by the former ones; null for an option that is gone. Options that have kept their titles are left out. */
  titles: ReadonlyMap<string, string | null>
}

/**
 * What has become of the options that a field had. An option is followed by its id. One that was removed is taken for the option that
 * was added with its title later, but not for one that was given its title.
 *
 * @param since the definitions of the field from then on, oldest first, without the present one
 * @returns null if all have their titles, or if the field had no options
 */
export function formerChoices(since: readonly TypeAndOptions[], now: TypeAndOptions): FormerChoices | null {
  const [then] = since
  if (!then || !hasChoices(then) || !hasChoices(now)) return null
  const present = new Map(choicesOf(now).map(({ id, title }) => [id, title]))
  const seen = new Set<string>()
  /** The ids of the options that were added with a title, oldest first. */
  const added = new Map<string, string[]>()
  for (const { id, title } of [...since, now].flatMap(choicesOf)) {
    if (seen.has(id)) continue
    seen.add(id)
    added.set(title, [...(added.get(title) ?? []), id])
  }
  const titles = new Map<string, string | null>()
  for (const [title, ids] of added) {
    const id = ids.find((each) => present.has(each))
    const today = id === undefined ? null : (present.get(id) ?? null)
    if (today !== title) titles.set(title, today)
  }
  return titles.size === 0 ? null : { isList: !hasSingleChoice(then), titles }
}

/** As `choiceRewriter`, but the cells of a removed option stay. */
export const choiceRenamer = (before: TypeAndOptions, after: TypeAndOptions): Rewrite | null =>
  rewriterOf(before, renamedChoices(before, after))

type Rewrite = (value: CellValue) => CellValue

/** @param renamed the new titles by the old ones; null for a removed option */
function rewriterOf(before: TypeAndOptions, renamed: ReadonlyMap<string, string | null>): Rewrite | null {
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

/**
 * The present titles of the options that a field had, by all their former titles; null if none is called otherwise.
 *
 * @param since as in `formerChoices`
 */
export function presentChoiceTitles(
  since: readonly TypeAndOptions[],
  now: TypeAndOptions,
): ChoiceTitles | null {
  const former = formerChoices(since, now)
  const [then] = since
  if (!former || !then || !former.titles.values().some((title) => title !== null)) return null
  return new Map(choicesOf(then).map(({ title }) => [title, former.titles.get(title) ?? title]))
}

/** What `ChoiceTitles` says after a change of select options; null if none is renamed. */
export function choiceTitles(before: TypeAndOptions, after: TypeAndOptions): ChoiceTitles | null {
  const renamed = renamedChoices(before, after)
  if (renamed.size === 0) return null
  return new Map(choicesOf(before).map(({ title }) => [title, renamed.get(title) ?? title]))
}

/** The new titles of renamed options, by their old titles. */
function renamedChoices(before: TypeAndOptions, after: TypeAndOptions): Map<string, string> {
  const renamed = new Map<string, string>()
  if (!hasChoices(before) || !hasChoices(after)) return renamed
  for (const [title, now] of changedTitles(before, after)) if (now !== null) renamed.set(title, now)
  return renamed
}

/**
 * The options with a change of `from` to `to` applied to the current ones: what others have renamed, added, removed or
 * moved meanwhile stays.
 *
 * @param isUsed whether a record holds a title: such options stay, although `to` lacks them
 */
export function revertChoices(
  current: TypeAndOptions,
  from: TypeAndOptions,
  to: TypeAndOptions,
  isUsed: (title: string) => boolean,
): Choice[] {
  const [now, before, after] = [byId(current), byId(from), byId(to)]
  const isWithdrawn = ({ id }: Choice) => before.has(id) && !after.has(id)
  const choices = choicesOf(current).flatMap((choice) => {
    const [old, changed] = [before.get(choice.id), after.get(choice.id)]
    if (isWithdrawn(choice)) return []
    return [old && changed ? restoreKeys(choice, old, changed) : choice]
  })
  const titles = new Set(choices.map(({ title }) => title))
  for (const [position, choice] of choicesOf(to).entries()) {
    const isMissing = !before.has(choice.id) && !now.has(choice.id) && !titles.has(choice.title)
    if (!isMissing) continue
    choices.splice(position, 0, choice)
    titles.add(choice.title)
  }
  const kept = choicesOf(current).filter(
    (choice) => isWithdrawn(choice) && isUsed(choice.title) && !titles.has(choice.title),
  )
  return [...inOrderOf(choices, before, after), ...kept]
}

type ChoicesById = ReadonlyMap<string, Choice>

const byId = (definition: TypeAndOptions): ChoicesById =>
  new Map(choicesOf(definition).map((choice) => [choice.id, choice]))

/** The options in the order of `after` if it differs from that of `before`, others last. */
function inOrderOf(choices: Choice[], before: ChoicesById, after: ChoicesById): Choice[] {
  const order = [...after.keys()]
  const [oldOrder, newOrder] = [
    [...before.keys()].filter((id) => after.has(id)),
    order.filter((id) => before.has(id)),
  ]
  if (Bun.deepEquals(oldOrder, newOrder)) return choices
  const positions = new Map(order.map((id, position) => [id, position]))
  const positionOf = ({ id }: Choice) => positions.get(id) ?? order.length
  return choices.toSorted((a, b) => positionOf(a) - positionOf(b))
}
