import { choiceColor } from '../../../src/core/fields/choices.ts'
import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../../src/core/fields/index.ts'
import type { Field, View, ViewKind } from '../../../src/core/model.ts'
import { isDated, isPlace, isStackable, optionsOf, viewKind } from '../../../src/core/views/index.ts'
import { t } from '../../i18n.ts'

/** A field that a kind of view cannot do without. */
export interface FieldNeed {
  label: () => string
  fits: (field: Field) => boolean
  /** One that can be made where the table has none. */
  fresh: () => { title: string; type: FieldTypeName; options?: FieldOptions }
}

const NEEDS: Partial<Record<ViewKind, FieldNeed>> = {
  kanban: {
    label: () => t('Stack by'),
    fits: isStackable,
    fresh: () => ({
      title: t('Status'),
      type: 'SingleSelect',
      options: {
        choices: [t('To do'), t('In progress'), t('Done')].map((title, at) => ({
          title,
          color: choiceColor(at),
        })),
      },
    }),
  },
  calendar: {
    label: () => t('From'),
    fits: isDated,
    fresh: () => ({ title: t('Date'), type: 'Date' }),
  },
  map: {
    label: () => t('Place'),
    fits: isPlace,
    fresh: () => ({ title: t('Place'), type: 'GeoData' }),
  },
}

/** System fields are nobody's dates: where there is nothing else, a field of one's own is made. */
const offered = (fields: readonly Field[]): Field[] => fields.filter((field) => !field.isSystem)

/** The fields that will do for a need. */
export const fieldsFor = (need: FieldNeed | undefined, fields: readonly Field[]): Field[] =>
  need ? offered(fields).filter(need.fits) : []

/** What a kind of view needs; undefined: nothing. */
export const needOf = (kind: ViewKind): FieldNeed | undefined => NEEDS[kind]

/** What a new view is set up by; null: no field, or none that fits. */
export interface Setup {
  fieldId: string | null
  /** Calendars: where the records end. */
  toFieldId: string | null
}

/** The setup that a new view begins with: that of the view it is copied from, or what fits best. */
export function firstSetup(kind: ViewKind, fields: readonly Field[], copied: View | undefined): Setup {
  const options =
    copied?.kind === kind
      ? { kind, options: copied.options }
      : { kind, options: viewKind(kind).defaults(offered(fields)) }
  if (kind === 'kanban') return { fieldId: optionsOf(options, 'kanban').stackFieldId, toFieldId: null }
  if (kind === 'map') return { fieldId: optionsOf(options, 'map').geoFieldId, toFieldId: null }
  if (kind !== 'calendar') return { fieldId: null, toFieldId: null }
  const [range] = optionsOf(options, 'calendar').ranges
  return { fieldId: range?.fromFieldId ?? null, toFieldId: range?.toFieldId ?? null }
}

/**
 * The options that make a new view so; undefined: its kind's own. On top of those of a view of its kind
 * that it is copied from, which would be lost otherwise.
 */
export function setupOptions(
  kind: ViewKind,
  { fieldId, toFieldId }: Setup,
  copied: View | undefined,
): Record<string, unknown> | undefined {
  const kept = copied?.kind === kind ? { ...copied.options } : {}
  if (kind === 'kanban') {
    // The stacks of another field say nothing of this one.
    const isSame = copied?.kind === kind && optionsOf(copied, kind).stackFieldId === fieldId
    return { ...kept, stackFieldId: fieldId, ...(!isSame && { stacks: [] }) }
  }
  if (kind === 'map') return { ...kept, geoFieldId: fieldId }
  if (kind !== 'calendar') return undefined
  const others = copied?.kind === kind ? optionsOf(copied, kind).ranges.slice(1) : []
  return { ...kept, ranges: fieldId === null ? [] : [{ fromFieldId: fieldId, toFieldId }, ...others] }
}
