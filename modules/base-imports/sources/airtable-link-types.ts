import * as z from 'zod/mini'

// The answers that the page of a shared base or view reads. They are not documented; unknown keys are ignored.

const id = z.string().check(z.minLength(1), z.maxLength(100))
const title = z.string().check(z.maxLength(2000))
const object = z.nullish(z.record(z.string(), z.unknown()))

export const linkColumn = z.object({
  id,
  name: title,
  type: z.string().check(z.maxLength(100)),
  description: z.nullish(z.string()),
  typeOptions: object,
})
export type LinkColumn = z.output<typeof linkColumn>

const linkRow = z.object({
  id,
  createdTime: z.nullish(z.string()),
  cellValuesByColumnId: object,
})
export type LinkRow = z.output<typeof linkRow>

const sortSet = z.nullish(
  z.object({ sortSet: z.nullish(z.array(z.object({ columnId: id, ascending: z.nullish(z.boolean()) }))) }),
)
const groupLevels = z.nullish(z.array(z.object({ columnId: id, order: z.nullish(z.string()) })))

export const linkView = z.object({
  id,
  name: z.nullish(title),
  type: z.nullish(z.string()),
  personalForUserId: z.nullish(z.string()),
  columnOrder: z.nullish(
    z.array(z.object({ columnId: id, visibility: z.nullish(z.boolean()), width: z.nullish(z.number()) })),
  ),
  filters: object,
  lastSortsApplied: sortSet,
  groupLevels,
  colorConfig: object,
})
export type LinkView = z.output<typeof linkView>

export const linkTable = z.object({
  id,
  name: title,
  description: z.nullish(z.string()),
  primaryColumnId: z.nullish(id),
  columns: z.array(linkColumn).check(z.maxLength(2000)),
  views: z._default(z.array(linkView), []),
  /** Groups of views in the sidebar. */
  viewSectionsById: object,
  /** Where the records of a synchronized table come from. */
  externalTableSyncById: object,
  rows: z.nullish(z.array(linkRow)),
})
export type LinkTable = z.output<typeof linkTable>

/** Of a shared base: the structure, and the records of the tables that were asked for. */
export const applicationAnswer = z.object({
  data: z.object({
    name: z.nullish(title),
    tableSchemas: z.array(linkTable).check(z.maxLength(1000)),
    tableDatas: z._default(
      z.array(
        z.object({
          id,
          rows: z.nullish(z.array(linkRow)),
          viewDatas: z._default(z.array(linkView), []),
        }),
      ),
      [],
    ),
  }),
})

/** Of a shared view: its table with all records. */
export const viewAnswer = z.object({ data: z.object({ table: linkTable }) })
