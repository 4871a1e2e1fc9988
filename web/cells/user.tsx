import { UserRound } from 'lucide-react'
import { user } from '../../src/core/fields/people.ts'
import { peopleCell } from './people-cell.tsx'

/** Members of the base, one or several. */
export const userCell = peopleCell(user, UserRound)
