import * as z from 'zod/mini'

// The parts of Baserow's REST API that imports read (https://api.baserow.io/api/redoc/). Unknown keys are ignored.

const id = z.int().check(z.minimum(1))
const title = z.string().check(z.maxLength(2000))
const type = z.string().check(z.maxLength(100))
const flag = z.nullish(z.boolean())
const object = z.nullish(z.record(z.string(), z.unknown()))

const tableRef = z.object({ id, name: title, order: z.nullish(z.number()) })
export const baserowTables = z.array(z.extend(tableRef, { database_id: id })).check(z.maxLength(10_000))

const application = z.object({
  id,
  name: title,
  type,
  workspace: z.nullish(z.object({ id, name: title })),
  /** Only of databases. */
  tables: z.nullish(z.array(tableRef).check(z.maxLength(1000))),
})
export const baserowApplication = application
export const baserowApplications = z.array(application).check(z.maxLength(10_000))

/** Options depend on the type of the field. */
export const baserowField = z.looseObject({
  id,
  name: title,
  type,
  primary: flag,
  description: z.nullish(z.string()),
  error: z.nullish(z.string()),
})
export type BaserowField = z.output<typeof baserowField>
export const baserowFields = z.array(baserowField).check(z.maxLength(2000))

const condition = z.object({
  field: z.nullish(id),
  type,
  value: z.nullish(z.unknown()),
  group: z.nullish(z.union([z.number(), z.string()])),
})
const conditionGroup = z.object({
  id: z.union([z.number(), z.string()]),
  filter_type: z.nullish(z.string()),
  parent_group: z.nullish(z.union([z.number(), z.string()])),
})
const level = z.object({ field: id, order: z.nullish(z.string()) })

/** Conditions of a view or a colour, with the groups that they name. */
export const baserowConditions = z.object({
  filters: z.nullish(z.array(condition).check(z.maxLength(1000))),
  filter_groups: z.nullish(z.array(conditionGroup).check(z.maxLength(1000))),
})
export type BaserowConditions = z.output<typeof baserowConditions>

export const baserowView = z.object({
  id,
  name: title,
  type,
  order: z.nullish(z.number()),
  filter_type: z.nullish(z.string()),
  filters: z.nullish(z.array(condition).check(z.maxLength(1000))),
  filter_groups: z.nullish(z.array(conditionGroup).check(z.maxLength(1000))),
  filters_disabled: flag,
  sortings: z.nullish(z.array(level)),
  group_bys: z.nullish(z.array(level)),
  decorations: z.nullish(
    z.array(
      z.object({
        type: z.nullish(z.string()),
        value_provider_type: z.nullish(z.string()),
        value_provider_conf: object,
      }),
    ),
  ),
  row_height_size: z.nullish(z.string()),
  single_select_field: z.nullish(id),
  card_cover_image_field: z.nullish(id),
  date_field: z.nullish(id),
})
export type BaserowView = z.output<typeof baserowView>
export const baserowViews = z.array(baserowView).check(z.maxLength(2000))

const fieldOption = z.object({
  hidden: flag,
  enabled: flag,
  order: z.nullish(z.number()),
  width: z.nullish(z.number()),
})
export const baserowFieldOptions = z.object({ field_options: z.record(z.string(), fieldOption) })
export type BaserowFieldOptions = z.output<typeof baserowFieldOptions>['field_options']

/** A row has its values by `field_1`. */
export const baserowRow = z.looseObject({ id })
export type BaserowRow = z.output<typeof baserowRow>
export const baserowRows = z.object({ next: z.nullish(z.string()), results: z.array(baserowRow) })

export const baserowRowMetadata = z.object({
  next: z.nullish(z.string()),
  row_metadata: z.nullish(z.record(z.string(), z.object({ row_comment_count: z.nullish(z.number()) }))),
})

export const baserowWorkspaces = z.array(
  z.object({
    id,
    users: z.nullish(
      z.array(z.object({ user_id: id, name: z.nullish(z.string()), email: z.nullish(z.string()) })),
    ),
  }),
)

export const baserowComments = z.object({
  next: z.nullish(z.string()),
  results: z.array(
    z.object({
      id,
      user_id: z.nullish(id),
      first_name: z.nullish(z.string()),
      /** A document; plain text in older versions. */
      message: z.nullish(z.unknown()),
      comment: z.nullish(z.string()),
      created_on: z.string(),
    }),
  ),
})

/** The answer to a sign-in; without a token if a second factor is asked for. */
export const baserowSession = z.object({
  access_token: z.nullish(z.string()),
  token: z.nullish(z.string()),
  two_factor_auth: z.nullish(z.unknown()),
})

export interface BaserowTable {
  id: number
  name: string
  fields: BaserowField[]
  views: { view: BaserowView; fieldOptions: BaserowFieldOptions }[]
}

// The files of an export (baserow/core/import_export, version 1.0.0 of its schema).

export const exportManifest = z.object({
  applications: z.object({
    database: z.nullish(
      z.object({
        items: z
          .array(
            z.object({
              id,
              name: title,
              files: z.object({
                schema: z.nullish(z.string()),
                data: z.nullish(z.object({ file: z.string() })),
              }),
            }),
          )
          .check(z.maxLength(10_000)),
      }),
    ),
  }),
})

const exportedLevel = z.object({ field_id: id, order: z.nullish(z.string()) })

const exportedView = z.extend(baserowView, {
  filters: z.nullish(z.array(z.extend(z.omit(condition, { field: true }), { field_id: z.nullish(id) }))),
  sortings: z.nullish(z.array(exportedLevel)),
  group_bys: z.nullish(z.array(exportedLevel)),
  single_select_field_id: z.nullish(id),
  card_cover_image_field_id: z.nullish(id),
  date_field_id: z.nullish(id),
  field_options: z.nullish(z.array(z.extend(fieldOption, { field_id: id }))),
})
export type ExportedView = z.output<typeof exportedView>

export const exportedDatabase = z.object({
  tables: z
    .array(
      z.object({
        id,
        name: title,
        order: z.nullish(z.number()),
        fields: baserowFields,
        views: z.array(exportedView).check(z.maxLength(2000)),
        /** Checked when their page is read. */
        rows: z.array(z.unknown()),
      }),
    )
    .check(z.maxLength(1000)),
})
export type ExportedDatabase = z.output<typeof exportedDatabase>
