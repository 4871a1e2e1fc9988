import { UsersRound } from 'lucide-react'
import { collaborator } from '../../src/core/fields/people.ts'
import { peopleCell } from './people-cell.tsx'

/** The same as `User`, under an older name. */
export const collaboratorCell = peopleCell(collaborator, UsersRound)
