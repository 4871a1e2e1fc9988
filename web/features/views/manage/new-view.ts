import { choiceColor } from '../../../../src/core/fields/choices.ts'
import type { FieldOptions } from '../../../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import type { Field, View, ViewKind } from '../../../../src/core/model.ts'
import {
  isDated,
  isLocationField,
  isStackable,
  type Setup,
  viewKind,
} from '../../../../src/core/views/index.ts'
import { m } from '../../../messages.gen.ts'

/** A field that a view kind requires. */
export interface FieldNeed {
  label: () => string
  fits: (field: Field) => boolean
  /** The field to create if the table has no suitable one. */
  fresh: () => { title: string; type: FieldTypeName; options?: FieldOptions }
}

const NEEDS: Partial<Record<ViewKind, FieldNeed>> = {
  kanban: {
    label: () => m.views_stack_by(),
    fits: isStackable,
    fresh: () => ({
      title: m.views_status(),
      type: 'SingleSelect',
      options: {
        choices: [m.views_to_do(), m.views_in_progress(), m.common_done()].map((title, at) => ({
          title,
          color: choiceColor(at),
        })),
      },
    }),
  },
  calendar: {
    label: () => m.common_from(),
    fits: isDated,
    fresh: () => ({ title: m.views_date(), type: 'Date' }),
  },
  map: {
    label: () => m.common_place(),
    fits: isLocationField,
    fresh: () => ({ title: m.common_place(), type: 'GeoData' }),
  },
}

/** System dates are not suitable; without another date field, a new one is created. */
const offered = (fields: readonly Field[]): Field[] => fields.filter((field) => !field.isSystem)

/** The fields that satisfy a requirement. */
export const fieldsFor = (need: FieldNeed | undefined, fields: readonly Field[]): Field[] =>
  need ? offered(fields).filter(need.fits) : []

/** The field that a kind of view requires; undefined if it requires none. */
export const needOf = (kind: ViewKind): FieldNeed | undefined => NEEDS[kind]

/** The initial fields of a new view: those of the copied view, or the most suitable ones. */
export function firstSetup(kind: ViewKind, fields: readonly Field[], copied: View | undefined): Setup {
  const { setup, options, defaults } = viewKind(kind)
  const first = copied?.kind === kind ? options.parse(copied.options) : defaults(offered(fields))
  return setup?.read(first) ?? { fieldId: null, toFieldId: null }
}

/** Options for a setup, based on those of a copied view of the same kind; undefined for the kind's defaults. */
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
