import { writeNameList } from '../../src/core/fields/list-value.ts'
import type { RecordId } from '../../src/core/model.ts'
import { doorOf, ended, formatOf, resultOf, upload } from '../imports/support.ts'
import { applyLinks, type End, NAMES, type State, type TableName, type World } from './links-world.ts'

/** A column of a file: the records that a link's field names in each row, by their ids or as rows of the file. */
export interface ImportedLink {
  end: End
  rows: ({ id: RecordId } | { row: number })[][]
}

/** Rows of a file. */
export const IMPORTED = 2

let imported = 0

/** Imports new records that name others in their links, as one action. */
export async function importRows(
  { bench, tables }: World,
  name: TableName,
  links: ImportedLink[],
): Promise<void> {
  const { app, owner, trpc, baseId } = bench
  const table = tables[name]
  const titles = Array.from({ length: IMPORTED }, () => `imported, "${++imported}"`)
  const known = new Map(
    await Promise.all(
      NAMES.map(async (one) => {
        const list = await tables[one].list()
        return [one, new Map(list.map(({ Id, Title }) => [Id, String(Title ?? Id)]))] as const
      }),
    ),
  )
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`
  const lines = titles.map((title, at) => {
    const cells = links.map(({ end, rows }) => {
      const named = (rows[at] ?? []).map((one) =>
        'id' in one ? (known.get(end.other)?.get(one.id) ?? '') : (titles[one.row] ?? ''),
      )
      return end.holdsOne ? (named[0] ?? '') : writeNameList(named)
    })
    return [title, ...cells].map(quote).join(',')
  })
  const body = `${['Title', ...links.map(({ end }) => end.link)].join(',')}\n${lines.join('\n')}\n`
  const door = doorOf(app, owner)
  const fieldIds = [table.field('Title').id, ...links.map(({ end }) => end.end.fieldId)]
  const { jobId } = await trpc.imports.start.mutate({
    baseId,
    tableId: table.id,
    uploadId: await upload(door, body),
    format: formatOf(body),
    width: fieldIds.length,
    columns: fieldIds.map((fieldId, index) => ({ index, fieldId })),
  })
  const result = resultOf(await ended(door, jobId))
  if (result.problems > 0) throw new Error(`The import left out ${JSON.stringify(result.samples)}`)
}

/** Any links for new records. From both ends of one link a file may say two things, of which the model has no notion. */
export function chooseImported(
  { ends }: World,
  { alive }: State,
  table: TableName,
  random: () => number,
): ImportedLink[] {
  const given = ends.filter((end) => end.table === table && random() < 0.5)
  return given
    .filter((end, at) => given.findIndex(({ link }) => link === end.link) === at)
    .map((end) => ({
      end,
      rows: Array.from({ length: IMPORTED }, () => {
        const there = [...alive[end.other]].filter(() => random() < 0.5).map((id) => ({ id }))
        const own = end.other === table && random() < 0.3 ? [{ row: Math.floor(random() * IMPORTED) }] : []
        return [...own, ...there].slice(0, end.holdsOne ? 1 : 4)
      }),
    }))
}

/** What an import comes to: its rows are the records that were not there before, in their order. */
export function applyImported(
  state: State,
  alive: Set<RecordId>,
  table: TableName,
  links: ImportedLink[],
): void {
  const ids = [...alive.difference(state.alive[table])].toSorted((a, b) => Number(a) - Number(b))
  state.alive[table] = alive
  for (const { end, rows } of links) {
    rows.forEach((named, at) => {
      const targets = named.map((one) => ('id' in one ? one.id : ids[one.row]!))
      applyLinks(state, end, 'set', ids[at]!, targets)
    })
  }
}
