import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import { createBase } from '../support/factories.ts'
import type { gridTests, OpenTable } from './grid-page.ts'

/** Two tables that tests link: authors by name with a number and a choice, and books by title. */
export interface Library {
  baseId: string
  books: OpenTable
  authors: OpenTable
  /** Adds a field to the books; the table of `books` knows it afterwards. */
  addField: (field: {
    type: Field['type']
    title: string
    options: Record<string, unknown>
  }) => Promise<Field>
  /** A link of the books to the authors. */
  addLink: (
    kind: 'mm' | 'bt' | 'hm' | 'oo',
    title: string,
    options?: Record<string, unknown>,
  ) => Promise<Field>
  link: (field: Field, id: RecordId, targets: RecordId[]) => Promise<unknown>
  fieldOf: (table: OpenTable, title: string) => string
  /** What a cell of the books holds with the server. */
  read: (field: Field, id: RecordId) => Promise<CellValue>
}

/** Makes the tables of `Library`, with these records. */
export async function createLibrary(
  tests: ReturnType<typeof gridTests>,
  names: (string | null)[],
  titles: string[],
): Promise<Library> {
  const app = tests.app()
  const owner = tests.owner()
  const api = app.trpc(owner.token)
  const { id: baseId } = await createBase(app, owner)
  const make = async (
    title: string,
    fields: Parameters<typeof api.schema.createTable.mutate>[0]['fields'],
  ) => {
    const schema = await api.schema.createTable.mutate({ baseId, title, fields })
    return { schema, baseId, tableId: schema.table.id }
  }
  const authors = await make('Authors', [
    { type: 'SingleLineText', title: 'Name' },
    { type: 'Number', title: 'Born' },
    {
      type: 'SingleSelect' as const,
      title: 'Genre' as const,
      options: { choices: [{ title: 'Fantasy' }, { title: 'Crime' }] },
    },
  ])
  const books = await make('Books', [{ type: 'SingleLineText', title: 'Title' }])
  const fieldOf = (table: OpenTable, title: string): string =>
    table.schema.fields.find((field) => field.title === title)?.id ?? title
  const insert = (table: OpenTable, rows: Record<string, CellValue>[]) =>
    api.records.write.mutate({
      change: {
        baseId,
        operations: [{ kind: 'insert', tableId: table.tableId, rows: rows.map((values) => ({ values })) }],
      },
    })
  await insert(
    authors,
    names.map((name, at) => ({
      [fieldOf(authors, 'Name')]: name,
      [fieldOf(authors, 'Born')]: 1900 + at,
      [fieldOf(authors, 'Genre')]: at % 2 === 0 ? 'Fantasy' : 'Crime',
    })),
  )
  await insert(
    books,
    titles.map((title) => ({ [fieldOf(books, 'Title')]: title })),
  )

  const addField: Library['addField'] = async (field) => {
    const made = await api.schema.createField.mutate({ tableId: books.tableId, field })
    books.schema = await api.schema.table.query({ tableId: books.tableId })
    return made
  }
  return {
    baseId,
    books,
    authors,
    addField,
    fieldOf,
    addLink: (kind, title, options = {}) =>
      addField({
        type: kind === 'bt' || kind === 'oo' ? 'LinkToAnotherRecord' : 'Links',
        title,
        options: { kind, relatedTableId: authors.tableId, ...options },
      }),
    link: ({ id: fieldId }, id, targets) =>
      api.records.write.mutate({
        change: {
          baseId,
          operations: [{ kind: 'link', tableId: books.tableId, fieldId, id, targets }],
        },
      }),
    async read({ id: fieldId }, recordId) {
      const { values } = await api.records.get.query({ tableId: books.tableId, recordId })
      return values[fieldId] ?? null
    },
  }
}
