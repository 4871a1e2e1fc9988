import * as z from 'zod/mini'
import { createId } from '../ids.ts'
import { m } from '../messages.gen.ts'
import { titlesIn } from './choice-titles.ts'
import {
  type CellValue,
  defineFieldType,
  describeValue,
  formatPlain,
  readFail,
  readOk,
} from './field-type.ts'

/** One option of a select field. Cells hold its title; the id stays when it is renamed. */
export interface Choice {
  id: string
  title: string
  color: string
}

/** Options of both select types. */
export type SelectOptions = {
  choices: Choice[]
}

/** Colours assigned in turn to options without a colour (wire §8.3). */
export const CHOICE_COLORS = [
  '#cfdffe',
  '#d0f1fd',
  '#c2f5e8',
  '#ffdaf6',
  '#ffdce5',
  '#fee2d5',
  '#ffeab6',
  '#d1f7c4',
  '#ede2fe',
  '#eeeeee',
] as const

/** Options of one field: a guard, as lists of a few hundred are the most that one can use. */
export const MAX_CHOICES = 10_000
const MAX_TITLE = 1000

/** Colour of the option at a position. */
export const choiceColor = (index: number): string =>
  CHOICE_COLORS[index % CHOICE_COLORS.length] ?? CHOICE_COLORS[0]

const choiceInput = z.object({
  id: z.optional(z.string().check(z.maxLength(64))),
  title: z.string({ error: () => m.field_error_option_title() }).check(z.trim(), z.maxLength(MAX_TITLE)),
  // Colours are inserted into style attributes, so only characters of CSS colours are allowed.
  color: z.nullish(
    z.string().check(z.regex(/^[#\w(),.% -]{1,64}$/, { error: () => m.field_error_colour() })),
  ),
})

/**
 * Schema of `{ choices }`, which preserves the order, assigns missing colours and replaces missing or
 * duplicate ids. Rejects empty and duplicate titles, with `noComma` also titles that contain a comma.
 */
function selectOptions({ noComma }: { noComma: boolean }) {
  const choices = z.pipe(
    z.array(choiceInput).check(
      z.maxLength(MAX_CHOICES, { error: () => m.field_error_too_many_options({ max: MAX_CHOICES }) }),
      z.superRefine((list, context) => {
        const problem = problemOf(
          list.map((choice) => choice.title),
          noComma,
        )
        if (problem) context.addIssue({ code: 'custom', message: problem })
      }),
    ),
    z.transform((list): Choice[] => {
      const taken = new Set<string>()
      return list.map(({ id: sent, title, color }, index) => {
        // Duplicate ids would merge two options.
        const id = sent && !taken.has(sent) ? sent : createId('option')
        taken.add(id)
        return { id, title, color: color ?? choiceColor(index) }
      })
    }),
  )
  return z.object({ choices: z._default(choices, []) })
}

function problemOf(titles: string[], noComma: boolean): string | null {
  if (titles.some((title) => title === '')) return 'Empty options are not allowed!'
  if (new Set(titles).size < titles.length) return 'Duplicates are not allowed!'
  if (noComma && titles.some((title) => title.includes(','))) return "Illegal char(',') for MultiSelect"
  return null
}

/** Appends choices for new titles; returns the same list if none is new. */
export function withChoices(choices: Choice[], titles: Iterable<string>): Choice[] {
  const known = new Set(choices.map((choice) => choice.title))
  const added: Choice[] = []
  for (const raw of titles) {
    const title = raw.trim()
    if (title === '' || known.has(title)) continue
    known.add(title)
    added.push({ id: createId('option'), title, color: choiceColor(choices.length + added.length) })
  }
  return added.length === 0 ? choices : [...choices, ...added]
}

/**
 * The options of an edit, with what others have added, changed and removed since it began.
 *
 * @param edited the options after the edit
 * @param before as they were when it began
 * @param now as others have changed them since
 */
export function mergeChoices(
  edited: readonly Choice[],
  before: readonly Choice[],
  now: readonly Choice[],
): Choice[] {
  const [old, current] = [before, now].map((choices) => new Map(choices.map((choice) => [choice.id, choice])))
  const kept = edited.flatMap((choice) => {
    const start = old?.get(choice.id)
    if (start?.title !== choice.title || start.color !== choice.color) return [choice]
    return current?.get(choice.id) ?? []
  })
  const ids = new Set([...before, ...kept].map(({ id }) => id))
  // An option that is new in the edit is the one that others have added; one that gets its title is not.
  const titles = new Set(kept.filter(({ id }) => !current?.has(id)).map(({ title }) => title))
  return [...kept, ...now.filter(({ id, title }) => !ids.has(id) && !titles.has(title))]
}

/** Finds an option's title: an exact match, else the only one that differs in case. */
export function matchTitle(choices: Choice[], text: string): string | null {
  const title = text.trim()
  if (choices.some((choice) => choice.title === title)) return title
  const lower = title.toLowerCase()
  const alike = choices.filter((choice) => choice.title.toLowerCase() === lower)
  return alike.length === 1 ? (alike[0]?.title ?? null) : null
}

/** Error message for unknown titles, in the words of the wire reference. */
function unknownOptions(unknown: string[], choices: Choice[]): string {
  const valid = choices.map((choice) => choice.title).join(', ')
  return `Invalid option(s) "${unknown.join(', ')}" provided. Valid options are "${valid}"`
}

/** One of the field's options, stored as its title. */
export const singleSelect = defineFieldType({
  name: 'SingleSelect',
  label: m.field_type_single_select,
  group: 'choice',
  help: m.field_type_single_select_help,
  example: 'In progress',
  storage: 'text',
  options: selectOptions({ noComma: false }),
  filters: 'select',
  summaries: 'count',
  choices: 'single',
  optionsLimitValues: true,
  read(input, { choices }) {
    if (typeof input !== 'string' && typeof input !== 'number') {
      return readFail(m.value_error_option({ value: describeValue(input) }))
    }
    const title = String(input)
    if (choices.some((choice) => choice.title === title)) return readOk(title)
    return readFail(unknownOptions([describeValue(title)], choices), 'option')
  },
  parse: (text, { choices }) => matchTitle(choices, text),
  format: formatPlain,
  databaseTypes: { sqlite3: 'text', pg: 'text' },
})

const MAX_ITEMS = 10_000 // as many as a field can have options

/**
 * Any number of the field's options: distinct titles joined by commas in the order of entry. Stored as text:
 * the `set` type of spec §5 exists only in MySQL, which cannot host bases. `set` columns of connected MySQL
 * databases are read as multi selects.
 */
export const multiSelect = defineFieldType({
  name: 'MultiSelect',
  label: m.field_type_multi_select,
  group: 'choice',
  help: m.field_type_multi_select_help,
  example: 'red, blue',
  storage: 'text',
  options: selectOptions({ noComma: true }),
  filters: 'multiSelect',
  summaries: 'count',
  choices: 'multiple',
  optionsLimitValues: true,
  read(input, { choices }) {
    const titles = typeof input === 'string' || typeof input === 'number' ? titlesIn(String(input)) : input
    if (!Array.isArray(titles) || titles.length > MAX_ITEMS || !titles.every(isTitle)) {
      return readFail(m.value_error_options({ value: describeValue(input) }))
    }
    const known = new Set(choices.map((choice) => choice.title))
    const selected = new Set(titles.map((title) => String(title).trim()).filter((title) => title !== ''))
    const unknown = [...selected].filter((title) => !known.has(title))
    if (unknown.length > 0)
      return readFail(unknownOptions(unknown.slice(0, 10).map(describeValue), choices), 'option')
    return readOk(joined(selected))
  },
  parse(text, { choices }) {
    const titles = titlesIn(text).map((title) => matchTitle(choices, title))
    return titles.includes(null) ? null : joined(titles)
  },
  format: formatPlain,
  databaseTypes: { sqlite3: 'text', pg: 'text' },
})

const isTitle = (item: unknown): boolean => typeof item === 'string' || typeof item === 'number'

const joined = (titles: Iterable<string | null>): CellValue => [...new Set(titles)].join(',') || null
