import { count } from '../../../src/core/fields/count.ts'
import { shownType } from '../../../src/core/fields/field.ts'
import { type FieldTypeName, fieldType, type OptionsOf, readOptions } from '../../../src/core/fields/index.ts'
import { isSingleLink, type LinkOptions, linkOf } from '../../../src/core/fields/link-options.ts'
import { lookup } from '../../../src/core/fields/lookup.ts'
import type { RollupFunction } from '../../../src/core/fields/rollup.ts'
import { rollup } from '../../../src/core/fields/rollup.ts'
import { rollupFunctionsFor } from '../../../src/core/fields/traits.ts'
import type { Field, FieldResult } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  broken,
  type ComputedRules,
  missingColumn,
  type Reference,
  type Resolution,
  refusal,
  type SchemaLookup,
  withResult,
} from './rules.ts'

/** The link and the target field of a lookup or rollup. */
interface LinkedTarget {
  link: LinkOptions
  target: Field
}

/** The ids in the options of a lookup or rollup. */
interface LinkedIds {
  relationFieldId: string
  targetFieldId: string
}

/** The link that a field reads through. @throws BAD_REQUEST `Relation column not found` */
function requireLink(field: Field, relationFieldId: string, schema: SchemaLookup): LinkOptions {
  const relation = schema.field(relationFieldId)
  const link = relation?.tableId === field.tableId ? linkOf(relation) : null
  if (!link) throw refusal(m.wire_error_relation_column())
  return link
}

/**
 * The link and the target field.
 *
 * @param kind for the message
 * @throws BAD_REQUEST `Lookup column not found in related table`
 */
function requireTarget(
  field: Field,
  { relationFieldId, targetFieldId }: LinkedIds,
  schema: SchemaLookup,
  kind: 'Lookup' | 'Rollup',
): LinkedTarget {
  const link = requireLink(field, relationFieldId, schema)
  const target = schema.field(targetFieldId)
  if (target?.tableId !== link.relatedTableId) {
    throw refusal(m.wire_error_target_column({ kind }))
  }
  return { link, target }
}

/** The link and the target field, or why the field is broken. */
function findTarget(
  { relationFieldId, targetFieldId }: LinkedIds,
  schema: SchemaLookup,
): LinkedTarget | Resolution {
  const relation = schema.field(relationFieldId)
  if (!relation) return missingColumn(relationFieldId, schema)
  const link = linkOf(relation)
  if (!link) return broken(m.wire_error_relation_column())
  if (relation.error !== null) return broken(relation.error)
  const target = schema.field(targetFieldId)
  if (!target) return missingColumn(targetFieldId, schema)
  return target.error === null ? { link, target } : broken(target.error)
}

/** A link reads the related table, its display field, and the foreign key or junction table. */
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
  // `links/create.ts` checks new links.
  check() {},
  resolve(field, schema) {
    const key = linkOf(field)?.keyFieldId ?? null
    return key === null || schema.field(key) ? withResult(null) : missingColumn(key, schema)
  },
}

const relationOf = (field: Field) => count.options.parse(field.options).relationFieldId

/** A count of the linked records. */
export const countRules: ComputedRules = {
  references: (field) => [{ fieldId: relationOf(field) }],
  check(field, schema) {
    requireLink(field, relationOf(field), schema)
  },
  resolve(field, schema) {
    const relation = schema.field(relationOf(field))
    if (!relation) return missingColumn(relationOf(field), schema)
    if (!linkOf(relation)) return broken(m.wire_error_relation_column())
    if (relation.error !== null) return broken(relation.error)
    return withResult({ type: 'Number', options: readOptions('Number', {}), isList: false })
  },
}

const lookupOptions = (field: Field) => lookup.options.parse(field.options)

/**
 * A lookup has the type of its target: a single value through a single link, else a list. Looking up a link gives the
 * names of the records as text.
 */
export const lookupRules: ComputedRules = {
  references(field) {
    const { relationFieldId, targetFieldId } = lookupOptions(field)
    return [{ fieldId: relationFieldId }, { fieldId: targetFieldId }]
  },
  check(field, schema) {
    requireTarget(field, lookupOptions(field), schema, 'Lookup')
  },
  resolve(field, schema) {
    const found = findTarget(lookupOptions(field), schema)
    if (!('target' in found)) return found
    const { type, options, isList } = shownType(found.target)
    const onward = linkOf(found.target)
    const isMany = isList || !isSingleLink(found.link) || (onward !== null && !isSingleLink(onward))
    if (onward) {
      return withResult({
        type: 'SingleLineText',
        options: readOptions('SingleLineText', {}),
        isList: isMany,
      })
    }
    return withResult({ type: type.name as FieldTypeName, options, isList: isMany })
  },
}

const rollupOptions = (field: Field) => rollup.options.parse(field.options)

/** A rollup gives a number, or for min and max a value of its target's type. */
export const rollupRules: ComputedRules = {
  references(field) {
    const { relationFieldId, targetFieldId } = rollupOptions(field)
    return [{ fieldId: relationFieldId }, { fieldId: targetFieldId }]
  },
  check(field, schema) {
    const options = rollupOptions(field)
    const { link, target } = requireTarget(field, options, schema, 'Rollup')
    if (isSingleLink(link)) {
      throw refusal(m.schema_error_rollup_single_link())
    }
    if (!isOffered(target, options.function)) throw refusal(notAvailable(options.function, target))
  },
  resolve(field, schema) {
    const options = rollupOptions(field)
    const found = findTarget(options, schema)
    if (!('target' in found)) return found
    const { target } = found
    if (!isOffered(target, options.function)) return broken(notAvailable(options.function, target))
    return withResult(formatted(resultOf(options.function, target), options))
  },
}

const isOffered = (target: Field, name: RollupFunction): boolean => rollupFunctionsFor(target).includes(name)

/** `Rollup function (nope) not available for type (ForeignKey)`, the text of the REST API. */
export const notAvailable = (name: string, target: Pick<Field, 'type'>): string =>
  m.wire_error_rollup_function({ name: name.slice(0, 60), type: target.type })

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
  // The largest id is a number, not the key of this table.
  if ((name === 'min' || name === 'max') && !isLink && type.storage !== 'id') return own
  // Sums and averages of decimals keep the field's format; those of integers get a plain one.
  if (type.group === 'number' && type.storage === 'real') return own
  return plain(name === 'avg' || name === 'avgDistinct' ? 'Decimal' : 'Number')
}

/** The result with the field's decimals and separators. Dates have neither. */
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
