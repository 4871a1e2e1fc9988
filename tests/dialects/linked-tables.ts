import { createTableModel, type StoredField, type TableModel } from '../../modules/schema/model/model.ts'
import { OWN_COLUMN } from '../../src/core/fields/field.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType, readOptions } from '../../src/core/fields/index.ts'
import type { FieldResult, Person, Table } from '../../src/core/model.ts'
import { pick, seeded } from '../core/random.ts'

/** Authors, their books, and the books' tags: links of every kind, and computed fields on each of them. */

type Spec = [title: string, type: FieldTypeName, options?: object, result?: FieldResult | 'broken']

const CHOICES = { choices: ['new', 'old', 'rare'].map((title) => ({ title })) }

const of = (type: FieldTypeName, isList = false, options: object = {}): FieldResult => ({
  type,
  isList,
  options: readOptions(type, options),
})
const list = (type: FieldTypeName, options: object = {}) => of(type, true, options)

const link = (table: string, kind: string, rest: object) => ({ kind, relatedTableId: `m${table}`, ...rest })
const through = (table: string, relation: string, target: string, owner: string) => ({
  relationFieldId: `c${owner}${relation}`,
  targetFieldId: `c${table}${target}`,
})
const rollup = (table: string, relation: string, target: string, owner: string, name: string) => ({
  ...through(table, relation, target, owner),
  function: name,
})

const WRITTEN = { keyFieldId: 'cBookAuthor_id', parentFieldId: 'cAuthorId' }
const SEQUEL = { keyFieldId: 'cBookSequel_id', parentFieldId: 'cBookId' }
const PAIRS = (own: string, related: string) => ({
  junction: { tableId: 'mPair', ownFieldId: `cPair${own}_id`, relatedFieldId: `cPair${related}_id` },
})

const NUMERIC = ['count', 'sum', 'avg', 'min', 'max', 'countDistinct', 'sumDistinct', 'avgDistinct'] as const

const SPECS: Record<string, Spec[]> = {
  Author: [
    ['Id', 'ID'],
    ['Title', 'SingleLineText'],
    ['Born', 'Date'],
    ['Active', 'Checkbox'],
    ['Score', 'Decimal'],
    ['nc_order', 'Order'],
    ['Books', 'Links', link('Book', 'hm', { ...WRITTEN, inverseFieldId: 'cBookAuthor' })],
    ['BookRecords', 'LinkToAnotherRecord', link('Book', 'hm', WRITTEN)],
    ['BookCount', 'Count', { relationFieldId: 'cAuthorBooks' }, of('Number')],
    ['BookTitles', 'Lookup', through('Book', 'Books', 'Title', 'Author'), list('SingleLineText')],
    ['Prices', 'Lookup', through('Book', 'Books', 'Price', 'Author'), list('Decimal')],
    ['Dates', 'Lookup', through('Book', 'Books', 'Published', 'Author'), list('Date')],
    ['Seens', 'Lookup', through('Book', 'Books', 'Seen', 'Author'), list('DateTime')],
    ['SoldOnes', 'Lookup', through('Book', 'Books', 'Sold', 'Author'), list('Checkbox')],
    ['States', 'Lookup', through('Book', 'Books', 'State', 'Author'), list('SingleSelect', CHOICES)],
    ['Ratios', 'Lookup', through('Book', 'Books', 'Ratio', 'Author'), list('Decimal')],
    ['MarkLists', 'Lookup', through('Book', 'Books', 'Marks', 'Author'), list('MultiSelect', CHOICES)],
    ['Readers', 'Lookup', through('Book', 'Books', 'Reader', 'Author'), list('User', { multiple: true })],
    ['Scans', 'Lookup', through('Book', 'Books', 'Scan', 'Author'), list('Attachment')],
    ['Times', 'Lookup', through('Book', 'Books', 'At', 'Author'), list('Time')],
    ['Infos', 'Lookup', through('Book', 'Books', 'Info', 'Author'), list('JSON')],
    ['Names', 'Lookup', through('Book', 'Books', 'AuthorName', 'Author'), list('SingleLineText')],
    ['Doubles', 'Lookup', through('Book', 'Books', 'Double', 'Author'), list('Decimal')],
    ['Nexts', 'Lookup', through('Book', 'Books', 'Next', 'Author'), list('Date')],
    ['Dears', 'Lookup', through('Book', 'Books', 'Dear', 'Author'), list('Checkbox')],
    ['Louds', 'Lookup', through('Book', 'Books', 'Loud', 'Author'), list('SingleLineText')],
    ['Weights', 'Lookup', through('Book', 'Books', 'TagWeight', 'Author'), list('Number')],
    ['TagTitles', 'Lookup', through('Book', 'Books', 'TagTitles', 'Author'), list('SingleLineText')],
    ['TagLinks', 'Lookup', through('Book', 'Books', 'Tags', 'Author'), list('SingleLineText')],
    ...NUMERIC.map(
      (name): Spec => [
        `Price ${name}`,
        'Rollup',
        rollup('Book', 'Books', 'Price', 'Author', name),
        of('Decimal'),
      ],
    ),
    ...NUMERIC.map(
      (name): Spec => [`Id ${name}`, 'Rollup', rollup('Book', 'Books', 'Id', 'Author', name), of('Decimal')],
    ),
    ...['Title', 'State', 'Marks', 'Reader', 'Info', 'Loud', 'AuthorName'].map(
      (title): Spec => [
        `${title} countDistinct`,
        'Rollup',
        rollup('Book', 'Books', title, 'Author', 'countDistinct'),
        of('Number'),
      ],
    ),
    ['First', 'Rollup', rollup('Book', 'Books', 'Published', 'Author', 'min'), of('Date')],
    ['Days', 'Rollup', rollup('Book', 'Books', 'Published', 'Author', 'countDistinct'), of('Number')],
    ['TagSum', 'Rollup', rollup('Book', 'Books', 'Tags', 'Author', 'sum'), of('Number')],
  ],
  Book: [
    ['Id', 'ID'],
    ['Title', 'SingleLineText'],
    ['Price', 'Decimal'],
    ['Published', 'Date'],
    ['Sold', 'Checkbox'],
    ['State', 'SingleSelect', CHOICES],
    ['Seen', 'DateTime'],
    ['Ratio', 'Decimal'],
    ['Marks', 'MultiSelect', CHOICES],
    ['Reader', 'User', { multiple: true }],
    ['Scan', 'Attachment'],
    ['At', 'Time'],
    ['Info', 'JSON'],
    ['Author_id', 'ForeignKey'],
    ['Sequel_id', 'ForeignKey'],
    ['nc_order', 'Order'],
    ['Author', 'LinkToAnotherRecord', link('Author', 'bt', { ...WRITTEN, holdsKey: true })],
    ['AuthorName', 'Lookup', through('Author', 'Author', 'Title', 'Book'), of('SingleLineText')],
    ['AuthorBorn', 'Lookup', through('Author', 'Author', 'Born', 'Book'), of('Date')],
    ['AuthorActive', 'Lookup', through('Author', 'Author', 'Active', 'Book'), of('Checkbox')],
    ['AuthorScore', 'Lookup', through('Author', 'Author', 'Score', 'Book'), of('Decimal')],
    ['AuthorTotal', 'Lookup', through('Author', 'Author', 'Price sum', 'Book'), of('Decimal')],
    ['Siblings', 'Lookup', through('Author', 'Author', 'Books', 'Book'), list('SingleLineText')],
    ['Tags', 'Links', link('Tag', 'mm', PAIRS('Book', 'Tag'))],
    ['TagTitles', 'Lookup', through('Tag', 'Tags', 'Title', 'Book'), list('SingleLineText')],
    ['TagWeight', 'Rollup', rollup('Tag', 'Tags', 'Weight', 'Book', 'sum'), of('Number')],
    ['TagMean', 'Rollup', rollup('Tag', 'Tags', 'Weight', 'Book', 'avg'), of('Decimal')],
    ['Sequel', 'LinkToAnotherRecord', link('Book', 'oo', { ...SEQUEL, holdsKey: true })],
    ['Prequel', 'LinkToAnotherRecord', link('Book', 'oo', { ...SEQUEL, holdsKey: false })],
    ['SequelState', 'Lookup', through('Book', 'Sequel', 'State', 'Book'), of('SingleSelect', false, CHOICES)],
    ['SequelRatio', 'Lookup', through('Book', 'Sequel', 'Ratio', 'Book'), of('Decimal')],
    [
      'SequelReader',
      'Lookup',
      through('Book', 'Sequel', 'Reader', 'Book'),
      of('User', false, { multiple: true }),
    ],
    ['SequelAuthor', 'Lookup', through('Book', 'Sequel', 'AuthorName', 'Book'), of('SingleLineText')],
    ['Double', 'Formula', { formula: '{{cBookPrice}} * 2 + {{cBookTagWeight}}' }, of('Decimal')],
    ['Next', 'Formula', { formula: 'DATEADD({{cBookPublished}}, 1, "day")' }, of('Date')],
    ['Dear', 'Formula', { formula: '{{cBookPrice}} > 5' }, of('Checkbox')],
    ['Loud', 'Formula', { formula: 'CONCAT(UPPER({{cBookTitle}}), {{cBookPrice}})' }, of('SingleLineText')],
    ['Code', 'QrCode', { valueFieldId: 'cBookAuthorName' }, of('SingleLineText')],
    ['Gone', 'Lookup', through('Tag', 'Tags', 'Gone', 'Book'), 'broken'],
  ],
  Tag: [
    ['Id', 'ID'],
    ['Title', 'SingleLineText'],
    ['Weight', 'Number'],
    ['nc_order', 'Order'],
    ['Books', 'Links', link('Book', 'mm', PAIRS('Tag', 'Book'))],
    ['AuthorNames', 'Lookup', through('Book', 'Books', 'AuthorName', 'Tag'), list('SingleLineText')],
    ['PriceAvg', 'Rollup', rollup('Book', 'Books', 'Price', 'Tag', 'avg'), of('Decimal')],
    ['ScoreMax', 'Rollup', rollup('Book', 'Books', 'AuthorScore', 'Tag', 'max'), of('Decimal')],
  ],
  Pair: [
    ['Id', 'ID'],
    ['Book_id', 'ForeignKey'],
    ['Tag_id', 'ForeignKey'],
  ],
}

function fieldOf(table: string, [title, type, options, result]: Spec, order: number): StoredField {
  const isComputed = fieldType(type).computed !== undefined
  const isBroken = result === 'broken'
  return {
    id: `c${table}${title}`,
    tableId: `m${table}`,
    title,
    type,
    order,
    options: readOptions(type, options ?? {}),
    columnName: isComputed ? '' : title,
    description: null,
    required: false,
    unique: false,
    defaultValue: null,
    createdAt: '',
    updatedAt: '',
    deletedAt: null,
    wireMeta: null,
    isDisplay: title === 'Title',
    isPrimaryKey: title === 'Id',
    isSystem: title === 'nc_order',
    ...OWN_COLUMN,
    ...(isBroken ? { error: "Column 'Gone' was deleted" } : { result: result ?? null }),
  }
}

const tableOf = (name: string): Table => ({
  id: `m${name}`,
  baseId: 'ptest',
  sourceId: 'btest',
  title: name,
  tableName: `my "${name}s"`,
  kind: 'table',
  isJunction: name === 'Pair',
  description: null,
  meta: {},
  order: 1,
  version: 1,
  createdAt: '',
  updatedAt: '',
  deletedAt: null,
})

/** The tables by id. */
export const LINKED_MODELS: ReadonlyMap<string, TableModel> = new Map(
  Object.entries(SPECS).map(([name, specs]) => [
    `m${name}`,
    createTableModel(
      tableOf(name),
      specs.map((spec, index) => fieldOf(name, spec, index)),
    ),
  ]),
)

export const modelOf = (name: string): TableModel => {
  const model = LINKED_MODELS.get(`m${name}`)
  if (!model) throw new Error(`There is no table ${name}`)
  return model
}

/** Values of the stored fields, by title. */
export type LinkedRow = Record<string, CellValue>

const TEXTS = [null, '', 'abc', 'ABC', '50%', "it's", 'say "hi"', 'a\\b', 'Ünï', '日本', 'x, y']
const PRICES = [null, -1.5, 0, 0.25, 1, 2.25, 10, 100]
const INSTANTS = [null, '2024-02-29 10:00:00+00:00', '2023-12-31 23:59:59.120+00:00']
const RATIOS = [null, 1 / 3, 0.1 + 0.2, 123456.7891234567, 2 / 3, 1e-3, 12.5, 7, -98765.43210987654]
const MARKS = [null, 'new', 'old', 'new,old', 'rare,new', 'rare']
const READERS = [null, 'usann', 'usben', 'usann,usben', 'usgone', 'usann2']
const TIMES = [null, '00:00:00', '09:30:00', '23:59:59']
const INFOS = [null, '{"a":1}', '[1, 2]', '"ABC"']
const FILES = [null, ['photo.PNG'], ['Ünï.pdf', 'photo 2.png'], ["it's 50%.txt"]].map(
  (names) =>
    names &&
    JSON.stringify(names.map((title) => ({ url: 'https://x.test/y', title, mimetype: 'a/b', size: 5 }))),
)

/** Those whom the readers' ids stand for. */
export const PEOPLE: Person[] = [
  { id: 'usann', email: 'zoe@example.com', displayName: 'Ann' },
  { id: 'usben', email: 'ben@example.com', displayName: null },
  { id: 'usann2', email: 'a2@example.com', displayName: 'Joann' },
]
const DAYS = [null, '2024-02-28', '2024-02-29', '2024-03-01', '2023-01-01']

/** Rows by table, in the tables' order; the same on every run. */
export const LINKED_ROWS: Record<string, LinkedRow[]> = (() => {
  const random = seeded(23)
  const other = seeded(24)
  const rows = (count: number, make: (id: number) => LinkedRow): LinkedRow[] =>
    Array.from({ length: count }, (_, index) => ({ Id: index + 1, ...make(index + 1) }))
  // Not in the order of the ids: what is listed first is decided by the table's order.
  const order = (id: number) => (id * 37) % 211
  const some = (most: number) => (random() < 0.2 ? null : 1 + Math.floor(random() * most))
  const sequels = new Set<number>()
  const Author = rows(30, (id) => ({
    Title: pick(random, TEXTS),
    Born: pick(random, DAYS),
    Active: pick(random, [null, true, false]),
    Score: pick(random, PRICES),
    nc_order: order(id),
  }))
  const Book = rows(150, (id) => {
    const sequel = some(150)
    const isFree = sequel !== null && !sequels.has(sequel)
    if (isFree) sequels.add(sequel)
    return {
      Title: pick(random, TEXTS),
      Price: pick(random, PRICES),
      Published: pick(random, DAYS),
      Sold: pick(random, [null, true, false]),
      State: pick(random, [null, 'new', 'old', 'rare']),
      Seen: pick(random, INSTANTS),
      Ratio: pick(other, RATIOS),
      Marks: pick(other, MARKS),
      Reader: pick(other, READERS),
      Scan: pick(other, FILES),
      At: pick(other, TIMES),
      Info: pick(other, INFOS),
      Author_id: some(28),
      Sequel_id: isFree ? sequel : null,
      nc_order: order(id),
    }
  })
  const Tag = rows(12, (id) => ({
    Title: pick(random, TEXTS),
    Weight: pick(random, [null, 0, 1, 2, 5]),
    nc_order: order(id),
  }))
  const taken = new Set<string>()
  const Pair: LinkedRow[] = []
  while (Pair.length < 260) {
    const pair = { Book_id: some(140) ?? 1, Tag_id: some(11) ?? 1 }
    const key = `${pair.Book_id} ${pair.Tag_id}`
    if (!taken.has(key)) Pair.push({ Id: Pair.length + 1, ...pair })
    taken.add(key)
  }
  return { Author, Book, Tag, Pair }
})()
