import { choiceColor } from '../../../../src/core/fields/choices.ts'
import type { FieldOptions } from '../../../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import type { Field, View, ViewKind } from '../../../../src/core/model.ts'
import { isDated, isPlace, isStackable, type Setup, viewKind } from '../../../../src/core/views/index.ts'
import { t } from '../../../i18n.ts'

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

/** The setup that a new view begins with: that of the view it is copied from, or what fits best. */
export function firstSetup(kind: ViewKind, fields: readonly Field[], copied: View | undefined): Setup {
  const { setup, options, defaults } = viewKind(kind)
  const first = copied?.kind === kind ? options.parse(copied.options) : defaults(offered(fields))
  return setup?.read(first) ?? { fieldId: null, toFieldId: null }
}

/**
 * The options that make a new view so; undefined: its kind's own. On top of those of a view of its kind
 * that it is copied from, which would be lost otherwise.
 */
export function setupOptions(
  kind: ViewKind,
  chosen: Setup,
  copied: View | undefined,
): Record<string, unknown> | undefined {
  const { setup, options } = viewKind(kind)
  if (!setup) return undefined
  const isSameKind = copied?.kind === kind
  const kept = isSameKind ? copied.options : {}
  return { ...kept, ...setup.write(chosen, isSameKind ? options.parse(copied.options) : null) }
}
