import type { FieldOptions } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import type { Field } from '../../src/core/model.ts'
import type { Bench, TestTable } from './support.ts'

/** Authors, their books, and the books' tags, linked with each other. */
export interface Library {
  authors: TestTable
  books: TestTable
  tags: TestTable
  /** A field by table and title, as it stands now. */
  field(table: TestTable, title: string): Promise<Field>
  add(table: TestTable, title: string, type: FieldTypeName, options: FieldOptions): Promise<Field>
  /** A lookup or rollup of a field of the related table. */
  addThrough(
    table: TestTable,
    title: string,
    relation: string,
    target: [table: TestTable, title: string],
    rollup?: string,
  ): Promise<Field>
  link(table: TestTable, title: string, id: number, targets: number[]): Promise<void>
}

/**
 * Tolkien (Hobbit 10, LOTR 20.5), Asimov (Foundation 5) and Nobody, who wrote nothing; `Anon` has no author.
 * Hobbit is tagged fantasy and classic, LOTR fantasy. Author is a belongs-to of Books, Tags a many-to-many.
 */
export async function createLibrary(bench: Bench): Promise<Library> {
  const { trpc, baseId } = bench
  const authors = await bench.table({ Title: 'SingleLineText', Born: 'Date', Living: 'Checkbox' }, [
    { Title: 'Tolkien', Born: '1892-01-03', Living: false },
    { Title: 'Asimov', Born: '1920-01-02', Living: true },
    { Title: 'Nobody' },
  ])
  const books = await bench.table({ Title: 'SingleLineText', Price: 'Decimal', Published: 'Date' }, [
    { Title: 'Hobbit', Price: 10, Published: '1937-09-21' },
    { Title: 'LOTR', Price: 20.5, Published: '1954-07-29' },
    { Title: 'Foundation', Price: 5, Published: '1951-06-01' },
    { Title: 'Anon' },
  ])
  const tags = await bench.table({ Title: 'SingleLineText', Weight: 'Number' }, [
    { Title: 'fantasy', Weight: 3 },
    { Title: 'classic', Weight: 4 },
    { Title: 'unused' },
  ])

  const field = async (table: TestTable, title: string): Promise<Field> => {
    const { fields } = await trpc.schema.table.query({ tableId: table.id })
    const found = fields.find((candidate) => candidate.title === title)
    if (!found) throw new Error(`${table.title} has no field ${title}`)
    return found
  }
  const add: Library['add'] = (table, title, type, options) =>
    trpc.schema.createField.mutate({ tableId: table.id, field: { title, type, options } })
  const link: Library['link'] = async (table, title, id, targets) => {
    const { id: fieldId } = await field(table, title)
    await trpc.records.write.mutate({
      change: { baseId, operations: [{ kind: 'link', tableId: table.id, fieldId, id, targets }] },
    })
  }

  await add(authors, 'Books', 'Links', { kind: 'hm', relatedTableId: books.id })
  const inverse = (await trpc.schema.table.query({ tableId: books.id })).fields.find(
    (candidate) => candidate.type === 'LinkToAnotherRecord',
  )
  if (!inverse) throw new Error('The link has no other side')
  await trpc.schema.updateField.mutate({ fieldId: inverse.id, patch: { title: 'Author' } })
  await add(books, 'Tags', 'Links', { kind: 'mm', relatedTableId: tags.id })
  await link(authors, 'Books', 1, [1, 2])
  await link(authors, 'Books', 2, [3])
  await link(books, 'Tags', 1, [1, 2])
  await link(books, 'Tags', 2, [1])
  return {
    authors,
    books,
    tags,
    field,
    add,
    link,
    async addThrough(table, title, relation, [targetTable, targetTitle], rollup) {
      const relationFieldId = (await field(table, relation)).id
      const targetFieldId = (await field(targetTable, targetTitle)).id
      return add(table, title, rollup ? 'Rollup' : 'Lookup', {
        relationFieldId,
        targetFieldId,
        ...(rollup ? { function: rollup } : {}),
      })
    },
  }
}
