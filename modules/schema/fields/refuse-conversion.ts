import { AppError } from '../../../src/core/errors.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { isSingleLink, linkOf } from '../../../src/core/fields/link-options.ts'
import { areLinks, type FieldDefinition } from '../model/index.ts'
import { canFreeze } from './frozen-values.ts'

/** @throws NOT_IMPLEMENTED where one of the types has no values of its own to convert */
export function refuseConversion(
  before: Pick<FieldDefinition, 'type' | 'options'>,
  after: Pick<FieldDefinition, 'type'>,
): void {
  // Both links show the same records; but to one record there is only the one type.
  if (areLinks(before.type, after.type) && !isSingleLink(linkOf(before) ?? { kind: 'bt' })) return
  for (const name of [before.type, after.type]) {
    const type = fieldType(name)
    // Its numbers are values like others once nobody counts on.
    if (type.numbersRecords && name === before.type) continue
    // So are those that a formula gives at this moment.
    if (name === before.type && canFreeze(name)) continue
    if (!type.readOnly && !type.systemColumn && !type.internal && !type.computed) continue
    throw new AppError('NOT_IMPLEMENTED', `Updating ${before.type} => ${after.type} is not implemented`)
  }
}
