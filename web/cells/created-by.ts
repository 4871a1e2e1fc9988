import { UserRoundPlus } from 'lucide-react'
import { createdBy } from '../../src/core/fields/people.ts'
import { personCell } from './person-cell.tsx'

/** Who made the record. */
export const createdByCell = personCell(createdBy, UserRoundPlus)
