import * as z from 'zod/mini'
import { type Field, shownType } from '../fields/field.ts'
import type { AnyFieldType } from '../fields/field-type.ts'
import { isGroupable } from '../group-key.ts'

/** Numeric kinds of spec §3; calendar is 6. */
export type ViewKind = 'form' | 'gallery' | 'grid' | 'kanban' | 'map' | 'calendar'

/** A field that divides records into stacks (null: not chosen), and the keys of the stacks that are hidden. */
export interface Stacks {
  fieldId: string | null
  hidden: (string | null)[]
}

/** The fields that a new view is set up by; null: none, or none that fits. */
export interface Setup {
  fieldId: string | null
  /** Where records end, in kinds with a date range. */
  toFieldId: string | null
}

/** How the fields of a setup stand in a kind's options. */
export interface ViewSetup<Options> {
  /** True where records may span two dates. */
  hasEnd?: true
  read(options: Options): Setup
  /** @param copied the options of the view that the new one is copied from, where it is of the same kind */
  write(setup: Setup, copied: Options | null): Partial<Options>
}

/**
 * A kind of view: what it keeps beside the fields, filter and sorts that every view has. One file each
 * in this folder, gathered in `index.ts`.
 */
export interface ViewKindDefinition<Options extends object> {
  kind: ViewKind
  /** As REST clients number it (spec §3; calendar is 6). */
  wireNumber: number
  /** Its name where one is made, e.g. "Kanban". */
  label: string
  /** Schema of `View.options`; parsing fills in defaults. */
  options: z.ZodMiniType<Options>
  /**
   * The options of a new view over the live fields of a table. What the kind cannot do without (a kanban's
   * field) is null where no field fits: the screen then asks for one.
   */
  defaults(fields: readonly Field[]): Options
  /** Ids of the fields that the options name, those in the trash included. */
  fieldIds(options: Options): string[]
  /**
   * The options without what they say of fields that are gone, or of a type by now that does not fit: what is
   * left has no `problem` with fields. `field` gives a live field by its id.
   */
  prune(options: Options, field: (id: string) => Field | undefined): Options
  /** The options after options of a select field have got other titles. Absent where the kind names none. */
  renameChoices?(options: Options, fieldId: string, rename: (title: string) => string): Options
  /**
   * Error message that names the field if the options do not fit these fields; null if they do.
   * `field` gives a live field by its id.
   */
  problem(options: Options, field: (id: string) => Field | undefined): string | null
  /** True where visitors and members fill in answers, and no records are shown. */
  collectsAnswers?: true
  /** True where fields are columns: fields that are added later appear, and REST documents the view. */
  isTabular?: true
  /** True where records can be grouped by fields (`View.groups`). */
  canGroup?: true
  /** The field whose values divide the records, and the values that the view hides from visitors. */
  stacks?(options: Options): Stacks
  /** The fields that a new view is set up by; absent where it needs none. */
  setup?: ViewSetup<Options>
  /** Paths of stored files that the options name. */
  filePaths?(options: Options): (string | null)[]
  /** The options without what visitors must not learn. Absent where they may know all. */
  publicOptions?(options: Options): Options
  /** True where people put records into an order of the view's own, which no other view shows. */
  hasManualOrder: boolean
  /** How many fields beside the display field a new view shows; null: as many as a grid does. */
  shownAtFirst: number | null
}

/** `fieldId` where that field is live and fits, else null. */
export function fitOrNull(
  fieldId: string | null,
  field: (id: string) => Field | undefined,
  fits: (field: Field) => boolean,
): string | null {
  const found = fieldId === null ? undefined : field(fieldId)
  return found && fits(found) ? found.id : null
}

/** The first of some field ids that is of none of the types, in words; null where all are. */
export function wrongType(
  fieldIds: readonly (string | null)[],
  field: (id: string) => Field | undefined,
  fits: (field: Field) => boolean,
  wanted: string,
): string | null {
  for (const id of fieldIds) {
    if (id === null) continue
    const found = field(id)
    if (!found) return `Field '${id}' not found`
    if (!fits(found)) return `Field "${found.title}" is not a ${wanted}`
  }
  return null
}

/** The type of the values that a field shows, a lookup that of its target; null for a broken field. */
export const valueTypeOf = (field: Field): AnyFieldType | null =>
  field.error === null ? shownType(field).type : null

/** The picture at the top of a card: the first image of an attachment field; `fit` shows it whole, `crop` fills. */
export const coverShape = {
  coverFieldId: z._default(z.nullable(z.string().check(z.maxLength(64))), null),
  coverFit: z._default(z.enum(['fit', 'crop']), 'fit'),
}

/** True for a field whose files can be a card's cover. */
export const isCover = (field: Field): boolean => valueTypeOf(field)?.holdsFiles === true

/** The first field of a table that can be a cover, or null. */
export const firstCover = (fields: readonly Field[]): string | null => fields.find(isCover)?.id ?? null

/** Why a view cannot group its records by a field, in words that name it; null: it can. */
export function groupingProblem(field: Field): string | null {
  if (field.error !== null) return `Can’t group by field "${field.title}": ${field.error}`
  if (isGroupable(field)) return null
  return `Can’t group by field "${field.title}": ${field.type} fields don’t support grouping`
}
