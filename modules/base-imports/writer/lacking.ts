import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { joinIds } from '../../../src/core/fields/people.ts'
import { m } from '../../../src/messages.gen.ts'
import { cleanPerson, type Roster } from '../roster.ts'
import type { SourcePerson } from '../source.ts'
import { LACKS, recordScope } from '../store.ts'
import { type KnownTable, problem, type RunContext } from './context.ts'

/*
 * What a record lacks that a later run may bring, although nothing has changed in the source: files that could not be fetched,
 * people for whom there was no member here, values for which their fields had no room, such as an option that a select got while
 * its records were read, and links to records that were not imported yet. It is noted behind the digest of the record.
 */

/** Records that are read at once. */
const PAGE = 500
/** Fields that the line of a person names. */
const SHOWN_FIELDS = 20

export interface Lacking {
  /** True for files that could not be fetched. */
  files: boolean
  /** Cells without some of their people, by the ids of their fields in the source. */
  people: Record<string, LackingPeople>
  /** Ids in the source of fields that did not take their values. */
  cells: string[]
  /** Ids in the source of linked records that were not here, by link field. */
  links: Record<string, string[]>
}

export interface LackingPeople {
  /** The cell as it was written. */
  written: CellValue
  missing: SourcePerson[]
  /** True if their names are in a field beside. */
  named?: true
}

const NOTHING: Lacking = { files: false, people: {}, cells: [], links: {} }

export const lacksNothing = ({ files, people, cells, links }: Lacking): boolean =>
  !files && Object.keys(people).length + cells.length + Object.keys(links).length === 0

/** The digest of a record with a note of what it lacks. */
export const withLacking = (digest: string, lacking: Lacking): string =>
  lacksNothing(lacking) ? digest : `${digest}${LACKS}${JSON.stringify(lacking)}`

/** The parts of what `withLacking` has made. */
export function readLacking(noted: string): { digest: string; lacking: Lacking } {
  const at = noted.indexOf(LACKS)
  if (at < 0) return { digest: noted, lacking: NOTHING }
  // Earlier versions have noted files and people only.
  return {
    digest: noted.slice(0, at),
    lacking: { ...NOTHING, ...JSON.parse(noted.slice(at + LACKS.length)) },
  }
}

const nameOf = ({ id, email, name }: SourcePerson): string => email ?? name ?? id ?? ''

/** The cell with those people who are members here, and the others, each once. */
export function matchPeople(
  roster: Roster,
  given: readonly SourcePerson[],
): { value: CellValue; missing: SourcePerson[] } {
  const found: string[] = []
  const missing = new Map<string, SourcePerson>()
  for (const person of given) {
    const match = roster.memberOf(person)
    if (match) found.push(match.id)
    else missing.set(roster.keyOf(person), cleanPerson(person))
  }
  return { value: joinIds(found), missing: [...missing.values()] }
}

/** True if there is a member now for one of the people whom a cell lacks. */
export const hasArrived = (roster: Roster, { missing }: LackingPeople): boolean =>
  missing.some((person) => roster.memberOf(person) !== null)

/** The cells that earlier runs may have written, where others stood for these people: without those who were lacking. */
export function earlierCells(roster: Roster, given: readonly SourcePerson[]): CellValue[] {
  const earlier = given.map((person) => roster.earlierOf(person))
  const most = Math.max(...earlier.map(({ length }) => length))
  return Array.from({ length: most }, (_, at) =>
    joinIds(
      given.flatMap((person, index) => {
        const own = earlier[index] ?? []
        return own[Math.min(at, own.length - 1)] ?? roster.memberOf(person)?.id ?? []
      }),
    ),
  )
}

interface MissedPerson {
  person: SourcePerson
  cells: number
  /** Ids of the source. */
  fields: Map<KnownTable, Set<string>>
}

/** Reports the people whom records of this run lack: one line for each of them, however many cells they are missing in. */
export async function reportPeople(context: RunContext): Promise<void> {
  const found = new Map<string, MissedPerson>()
  for (const table of context.tables.values()) {
    for await (const lacking of lackingOf(context, table)) {
      for (const [fieldId, { missing }] of Object.entries(lacking.people)) {
        if (!table.fields.has(fieldId)) continue
        for (const person of missing) {
          const key = context.roster.keyOf(person)
          const about: MissedPerson = found.get(key) ?? { person, cells: 0, fields: new Map() }
          found.set(key, about)
          about.cells += 1
          about.fields.set(table, (about.fields.get(table) ?? new Set()).add(fieldId))
        }
      }
    }
  }
  await context.report(
    [...found.values()].map(({ person, cells, fields }) => {
      const about = { count: cells, fields: listOf(fields) }
      const reason =
        person.email === null
          ? m.base_imports_reason_people_without_email(about)
          : m.base_imports_reason_people(about)
      return problem('skipped', reason, { value: nameOf(person) })
    }),
  )
}

async function* lackingOf(context: RunContext, table: KnownTable): AsyncGenerator<Lacking> {
  const { store, row, signal } = context
  for (let after: string | null = null; ; ) {
    signal.throwIfAborted()
    const scope = recordScope(table.source.id)
    const page = await store.lacking(row.id, scope, { run: row.run, after, limit: PAGE })
    for (const { digest } of page) yield readLacking(digest ?? '').lacking
    const last = page.at(-1)
    if (!last) return
    after = last.sourceId
  }
}

/** Fields by their tables: `Tasks: Owner, Team; Books: Reader`. */
function listOf(fieldsByTable: ReadonlyMap<KnownTable, ReadonlySet<string>>): string {
  let left = SHOWN_FIELDS
  const texts: string[] = []
  for (const [{ source, fields }, ids] of fieldsByTable) {
    const titles = [...fields.values()].flatMap((field) =>
      ids.has(field.source.id) ? [field.source.title] : [],
    )
    const shown = titles.slice(0, left)
    left -= titles.length
    if (shown.length > 0) texts.push(`${source.title}: ${shown.join(', ')}`)
    if (left < 0) return `${texts.join('; ')}, …`
  }
  return texts.join('; ')
}
