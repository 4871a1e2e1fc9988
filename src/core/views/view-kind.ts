import * as z from 'zod/mini'
import type { ChoiceTitles } from '../fields/choice-titles.ts'
import { type Field, shownType } from '../fields/field.ts'
import type { AnyFieldType } from '../fields/field-type.ts'
import { isGroupable } from '../group-key.ts'

export type ViewKind = 'form' | 'gallery' | 'grid' | 'kanban' | 'map' | 'calendar'

/** The stacked field (null: not chosen) and the keys of hidden stacks. */
export interface Stacks {
  fieldId: string | null
  hidden: (string | null)[]
}

/** The fields chosen when creating a view; null: not chosen, or no field fits. */
export interface Setup {
  fieldId: string | null
  /** End date field, for kinds with a date range. */
  toFieldId: string | null
}

/** Maps a setup to a kind's options and back. */
interface ViewSetup<Options> {
  /** True if records can span a date range. */
  hasEnd?: true
  read(options: Options): Setup
  /** @param copied options of the copied view, if it is of the same kind */
  write(setup: Setup, copied: Options | null): Partial<Options>
}

/**
 * A view kind: the options that it has besides the fields, filter and sorts of every view. One file each in
 * this folder, registered in `index.ts`.
 */
export interface ViewKindDefinition<Options extends object> {
  kind: ViewKind
  /** Number in REST (spec §3; calendar is 6). */
  wireNumber: number
  /** Name in the "create view" menu, e.g. "Kanban". */
  label: string
  /** Schema of `View.options`; parsing fills in defaults. */
  options: z.ZodMiniType<Options>
  /**
   * Options of a new view for the live fields of a table. A required field (a kanban's stacked field) is null
   * if no field fits; the screen then asks for one.
   */
  defaults(fields: readonly Field[]): Options
  /** Ids of the fields in the options, including deleted ones. */
  fieldIds(options: Options): string[]
  /**
   * Removes references to deleted fields and fields whose new type does not fit, so that `problem` finds no
   * invalid field. `field` finds a live field by its id.
   */
  prune(options: Options, field: (id: string) => Field | undefined): Options
  /** Updates the options after select options were renamed. Absent if they contain no titles. */
  renameChoices?(options: Options, fieldId: string, titles: ChoiceTitles): Options
  /**
   * Undo of a change of options, with the parts of one option that others have set since. Absent if each option is one whole.
   *
   * @param undone the options now, with those that the change set as they were before it
   */
  keepParts?(undone: Options, change: { current: Options; from: Options; to: Options }): Options
  /**
   * Error message that names the field if the options do not fit these fields; null if they do. `field` finds
   * a live field by its id.
   */
  problem(options: Options, field: (id: string) => Field | undefined): string | null
  /** True if the view collects responses and shows no records. */
  collectsAnswers?: true
  /** True if fields are columns: new fields appear, and REST documents the view. */
  isTabular?: true
  /** True if records can be grouped by fields (`View.groups`). */
  canGroup?: true
  /** The stacked field, and the stacks that the view hides. */
  stacks?(options: Options): Stacks
  /** Fields chosen when creating a view; absent if it needs none. */
  setup?: ViewSetup<Options>
  /** Paths of the stored files in the options. */
  filePaths?(options: Options): (string | null)[]
  /** The options without confidential parts. Absent if all are public. */
  publicOptions?(options: Options): Options
  /** True if users can order the records manually within the view. */
  hasManualOrder: boolean
  /** Number of fields, besides the display field, that a new view shows; null: as in a grid. */
  shownAtFirst: number | null
}

/** `fieldId` if that field exists and fits, else null. */
export function fitOrNull(
  fieldId: string | null,
  field: (id: string) => Field | undefined,
  fits: (field: Field) => boolean,
): string | null {
  const found = fieldId === null ? undefined : field(fieldId)
  return found && fits(found) ? found.id : null
}

/**
 * The complete options of a view of that kind.
 *
 * @throws Error for a view of another kind
 */
export function optionsOfKind<Options extends object>(
  { kind, options }: ViewKindDefinition<Options>,
  view: { kind: ViewKind; options: object },
): Options {
  if (view.kind !== kind) throw new Error(`A ${view.kind} view is not a ${kind}`)
  return options.parse(view.options)
}

/** Error message for the first field that does not exist or (`unfit`) does not fit; null if all fit. */
export function wrongType(
  fieldIds: readonly (string | null)[],
  field: (id: string) => Field | undefined,
  fits: (field: Field) => boolean,
  unfit: (names: { field: string }) => string,
): string | null {
  for (const id of fieldIds) {
    if (id === null) continue
    const found = field(id)
    if (!found) return `Field '${id}' not found`
    if (!fits(found)) return unfit({ field: found.title })
  }
  return null
}

/** The type of a field's values, for a lookup that of its target; null for a broken field. */
export const valueTypeOf = (field: Field): AnyFieldType | null =>
  field.error === null ? shownType(field).type : null

/** The cover image of a card, the first image of an attachment field: `fit` shows all of it, `crop` fills the card. */
export const coverShape = {
  coverFieldId: z._default(z.nullable(z.string().check(z.maxLength(64))), null),
  coverFit: z._default(z.enum(['fit', 'crop']), 'fit'),
}

/** True for a field whose files can be a card's cover. */
export const isCover = (field: Field): boolean => valueTypeOf(field)?.holdsFiles === true

/** The first field of a table that can be a cover, or null. */
export const firstCover = (fields: readonly Field[]): string | null => fields.find(isCover)?.id ?? null

/** Error message if a view cannot group its records by a field; else null. */
export function groupingProblem(field: Field): string | null {
  if (field.error !== null) return `Can’t group by field "${field.title}": ${field.error}`
  if (isGroupable(field)) return null
  return `Can’t group by field "${field.title}": ${field.type} fields don’t support grouping`
}
