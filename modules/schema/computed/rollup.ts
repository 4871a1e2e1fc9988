import { shownType } from '../../../src/core/fields/field.ts'
import { type FieldTypeName, fieldType, type OptionsOf, readOptions } from '../../../src/core/fields/index.ts'
import { isSingleLink } from '../../../src/core/fields/link-options.ts'
import type { RollupFunction } from '../../../src/core/fields/rollup.ts'
import { rollup } from '../../../src/core/fields/rollup.ts'
import { rollupFunctionsFor } from '../../../src/core/fields/traits.ts'
import type { Field, FieldResult } from '../../../src/core/model.ts'
import { broken, type ComputedRules, gives, refusal } from './rules.ts'
import { findTarget, requireTarget } from './through-link.ts'

const optionsOf = (field: Field) => rollup.options.parse(field.options)

/** A rollup gives a number, or for min and max a value like those of its target. */
export const rollupRules: ComputedRules = {
  references(field) {
    const { relationFieldId, targetFieldId } = optionsOf(field)
    return [{ fieldId: relationFieldId }, { fieldId: targetFieldId }]
  },
  check(field, around) {
    const options = optionsOf(field)
    const { link, target } = requireTarget(field, options, around, 'Rollup')
    if (isSingleLink(link)) {
      throw refusal('A rollup needs a link to many records. Use a lookup for a link to one record.')
    }
    if (!isOffered(target, options.function)) throw refusal(notAvailable(options.function, target))
  },
  resolve(field, around) {
    const options = optionsOf(field)
    const found = findTarget(options, around)
    if (!('target' in found)) return found
    const { target } = found
    if (!isOffered(target, options.function)) return broken(notAvailable(options.function, target))
    return gives(formatted(resultOf(options.function, target), options))
  },
}

const isOffered = (target: Field, name: RollupFunction): boolean => rollupFunctionsFor(target).includes(name)

/** `Rollup function (nope) not available for type (ForeignKey)`, as REST clients know it. */
export const notAvailable = (name: string, target: Pick<Field, 'type'>): string =>
  `Rollup function (${name.slice(0, 60)}) not available for type (${target.type})`

function resultOf(name: RollupFunction, target: Field): FieldResult {
  const { type, options } = shownType(target)
  const isLink = type.computed === 'link'
  const plain = (type: FieldTypeName): FieldResult => ({
    type,
    options: readOptions(type, {}),
    isList: false,
  })
  const own: FieldResult = { type: type.name as FieldTypeName, options, isList: false }
  if (name === 'count' || name === 'countDistinct') return plain('Number')
  if ((name === 'min' || name === 'max') && !isLink) return own
  // Sums and averages of fractions keep the field's format; those of whole numbers get a plain one.
  if (type.group === 'number' && type.storage === 'real') return own
  return plain(name === 'avg' || name === 'avgDistinct' ? 'Decimal' : 'Number')
}

/** The result with as many decimals, and separators, as the field asks for. Dates have neither. */
function formatted(
  result: FieldResult,
  { precision, thousands }: Pick<OptionsOf<'Rollup'>, 'precision' | 'thousands'>,
): FieldResult {
  const { fractional } = fieldType(result.type)
  if (fractional !== undefined && precision) {
    const type = fractional as FieldTypeName
    return { ...result, type, options: readOptions(type, { precision, thousands }) }
  }
  const options = {
    ...result.options,
    ...(precision !== null && 'precision' in result.options && { precision }),
    ...(thousands && 'thousands' in result.options && { thousands }),
  }
  return { ...result, options }
}
