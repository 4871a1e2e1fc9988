import { readLinks } from '../../src/core/fields/list-value.ts'
import { createLink, linkedIds, type TestEnd } from '../records/links-support.ts'
import type { Bench, TestTable } from '../records/support.ts'
import { doorOf, ended, formatOf, reportOf, resultOf, upload } from './support.ts'

type StartInput = Parameters<Bench['trpc']['imports']['start']['mutate']>[0]

export interface LinkImport {
  /** Finds records by the first column. */
  update?: Omit<NonNullable<StartInput['update']>, 'keys'>
  preview?: boolean
  /** Whether names without a record create one. */
  missing?: 'create' | 'report'
  timeZone?: string
}

/** Starts the import of a file whose columns go to the fields, in their order; links are the second and later ones. */
export async function startLinks(
  bench: Bench,
  tableId: string,
  fieldIds: string[],
  file: string,
  { update, preview, missing, timeZone }: LinkImport = {},
): Promise<string> {
  const { jobId } = await bench.trpc.imports.start.mutate({
    baseId: bench.baseId,
    tableId,
    format: formatOf(file),
    width: fieldIds.length,
    uploadId: await upload(doorOf(bench.app, bench.owner), file),
    columns: fieldIds.map((fieldId, index) => ({ index, fieldId, ...(index > 0 && { missing }) })),
    update: update && { keys: [fieldIds[0]!], ...update },
    preview,
    timeZone,
  })
  return jobId
}

/** Imports names and links: the file's first column is the title. */
export async function loadLinks(
  bench: Bench,
  table: TestTable,
  ends: TestEnd[],
  file: string,
  options: LinkImport = {},
) {
  const fieldIds = [table.field('Title').id, ...ends.map(({ fieldId }) => fieldId)]
  const door = doorOf(bench.app, bench.owner)
  const jobId = await startLinks(bench, table.id, fieldIds, file, options)
  return { result: resultOf(await ended(door, jobId)), report: await reportOf(door, jobId) }
}

/** The titles of the records that each record's link names, by the record's own title. */
export async function linksOf(
  bench: Bench,
  { tableId, fieldId }: TestEnd,
  title: string,
): Promise<Record<string, unknown[]>> {
  const page = await bench.trpc.records.list.query({
    query: { tableId, fieldIds: [title, fieldId], limit: 100, offset: 0 },
  })
  return Object.fromEntries(
    page.rows.map(([name, cell]) => [name, readLinks(cell ?? null).records.map((record) => record.title)]),
  )
}

/** A table of books, and one of people to which it links. */
export async function createLinkWorld(
  bench: Bench,
  kind: 'hm' | 'bt' | 'mm' | 'oo',
  { books: titles = [], people: names }: { books?: string[]; people: string[] },
  options: { holdsKey?: boolean; required?: boolean } = {},
) {
  const rowsOf = (list: string[]) => list.map((Title) => ({ Title }))
  const books = await bench.table({ Title: 'SingleLineText' }, rowsOf(titles))
  const people = await bench.table({ Title: 'SingleLineText' }, rowsOf(names))
  const { own, inverse, write } = await createLink(bench, books, people, kind, options)
  const title = books.field('Title').id
  const links = () => linksOf(bench, own, title)
  /** The books of each person, by the person's id. */
  const held = () => Promise.all(names.map((_, at) => linkedIds(bench, inverse, at + 1)))
  return { books, people, own, inverse, write, links, held }
}
