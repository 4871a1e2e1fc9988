import { UserRoundPen } from 'lucide-react'
import { lastModifiedBy } from '../../src/core/fields/people.ts'
import { personCell } from './person-cell.tsx'

/** Who changed the record last. */
export const lastModifiedByCell = personCell(lastModifiedBy, UserRoundPen)
