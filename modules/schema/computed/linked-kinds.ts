import { count } from '../../../src/core/fields/count.ts'
import { shownType } from '../../../src/core/fields/field.ts'
import { type FieldTypeName, fieldType, type OptionsOf, readOptions } from '../../../src/core/fields/index.ts'
import { isSingleLink, type LinkOptions, linkOf } from '../../../src/core/fields/link-options.ts'
import { lookup } from '../../../src/core/fields/lookup.ts'
import type { RollupFunction } from '../../../src/core/fields/rollup.ts'
import { rollup } from '../../../src/core/fields/rollup.ts'
import { rollupFunctionsFor } from '../../../src/core/fields/traits.ts'
import type { Field, FieldResult } from '../../../src/core/model.ts'
import {
  broken,
  type ComputedRules,
  gives,
  missingColumn,
  type Reference,
  type Resolution,
  refusal,
  type Surroundings,
} from './rules.ts'

/** What lookups and rollups read, once it is known to be there. */
export interface LinkedTarget {
  link: LinkOptions
  target: Field
}

/** Ids in the options of a field that looks through a link. */
export interface ThroughLink {
  relationFieldId: string
  targetFieldId: string
}

/** The link of a field that looks through one. @throws BAD_REQUEST `Relation column not found` */
function requireLink(field: Field, relationFieldId: string, around: Surroundings): LinkOptions {
  const relation = around.field(relationFieldId)
  const link = relation?.tableId === field.tableId ? linkOf(relation) : null
  if (!link) throw refusal('Relation column not found')
  return link
}

/**
 * The link and the field behind it.
 *
 * @param what `Lookup` or `Rollup`, for the message
 * @throws BAD_REQUEST `Lookup column not found in related table`
 */
function requireTarget(
  field: Field,
  { relationFieldId, targetFieldId }: ThroughLink,
  around: Surroundings,
  what: string,
): LinkedTarget {
  const link = requireLink(field, relationFieldId, around)
  const target = around.field(targetFieldId)
  if (target?.tableId !== link.relatedTableId) {
    throw refusal(`${what} column not found in related table`)
  }
  return { link, target }
}

/** The same, or what is in the way. */
function findTarget(
  { relationFieldId, targetFieldId }: ThroughLink,
  around: Surroundings,
): LinkedTarget | Resolution {
  const relation = around.field(relationFieldId)
  if (!relation) return missingColumn(relationFieldId, around)
  const link = linkOf(relation)
  if (!link) return broken('Relation column not found')
  if (relation.error !== null) return broken(relation.error)
  const target = around.field(targetFieldId)
  if (!target) return missingColumn(targetFieldId, around)
  return target.error === null ? { link, target } : broken(target.error)
}

/** A link reads the related table, by whose display field it shows the records, and its key or its pairs. */
export const linkRules: ComputedRules = {
  references(field) {
    const options = linkOf(field)
    if (!options) return []
    const { relatedTableId, keyFieldId, junction } = options
    const tables: Reference[] = [{ tableId: relatedTableId }, { displayOf: relatedTableId }]
    if (junction) tables.push({ tableId: junction.tableId })
    if (keyFieldId !== null) tables.push({ fieldId: keyFieldId })
    return tables
  },
  // Made by `links/create.ts`, which looks at more than one field.
  check() {},
  resolve(field, around) {
    const key = linkOf(field)?.keyFieldId ?? null
    return key === null || around.field(key) ? gives(null) : missingColumn(key, around)
  },
}

const relationOf = (field: Field) => count.options.parse(field.options).relationFieldId

/** A count of the linked records, of one link as of many. */
export const countRules: ComputedRules = {
  references: (field) => [{ fieldId: relationOf(field) }],
  check(field, around) {
    requireLink(field, relationOf(field), around)
  },
  resolve(field, around) {
    const relation = around.field(relationOf(field))
    if (!relation) return missingColumn(relationOf(field), around)
    if (!linkOf(relation)) return broken('Relation column not found')
    if (relation.error !== null) return broken(relation.error)
    return gives({ type: 'Number', options: readOptions('Number', {}), isList: false })
  },
}

const lookupOptions = (field: Field) => lookup.options.parse(field.options)

/**
 * A lookup gives what its target gives: one value through a single link, else a list of them. Of a link it
 * gives the names of the records, as text.
 */
export const lookupRules: ComputedRules = {
  references(field) {
    const { relationFieldId, targetFieldId } = lookupOptions(field)
    return [{ fieldId: relationFieldId }, { fieldId: targetFieldId }]
  },
  check(field, around) {
    requireTarget(field, lookupOptions(field), around, 'Lookup')
  },
  resolve(field, around) {
    const found = findTarget(lookupOptions(field), around)
    if (!('target' in found)) return found
    const { type, options, isList } = shownType(found.target)
    const onward = linkOf(found.target)
    const isMany = isList || !isSingleLink(found.link) || (onward !== null && !isSingleLink(onward))
    if (onward) {
      return gives({ type: 'SingleLineText', options: readOptions('SingleLineText', {}), isList: isMany })
    }
    return gives({ type: type.name as FieldTypeName, options, isList: isMany })
  },
}

const rollupOptions = (field: Field) => rollup.options.parse(field.options)

/** A rollup gives a number, or for min and max a value like those of its target. */
export const rollupRules: ComputedRules = {
  references(field) {
    const { relationFieldId, targetFieldId } = rollupOptions(field)
    return [{ fieldId: relationFieldId }, { fieldId: targetFieldId }]
  },
  check(field, around) {
    const options = rollupOptions(field)
    const { link, target } = requireTarget(field, options, around, 'Rollup')
    if (isSingleLink(link)) {
      throw refusal('A rollup needs a link to many records. Use a lookup for a link to one record.')
    }
    if (!isOffered(target, options.function)) throw refusal(notAvailable(options.function, target))
  },
  resolve(field, around) {
    const options = rollupOptions(field)
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
