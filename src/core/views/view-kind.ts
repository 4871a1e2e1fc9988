import type { ZodType } from 'zod'
import type { Field, ViewKind } from '../model.ts'

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
  /** What may stand in `View.options`; parsing fills in what is absent. */
  options: ZodType<Options>
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
   * What is wrong with the options over these fields, in words that name the field; null: nothing.
   * `field` gives a live field by its id.
   */
  problem(options: Options, field: (id: string) => Field | undefined): string | null
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

/** What a field shows, for the choice of a cover, a date or a place: a lookup counts as what it looks up. */
export const isShownAs = (field: Field, ...types: readonly string[]): boolean =>
  field.error === null && types.includes(field.result?.type ?? field.type)
