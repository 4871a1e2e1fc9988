import { Tally5 } from 'lucide-react'
import { count } from '../../src/core/fields/count.ts'
import { computedCell } from './computed-cell.tsx'

/** How many records are linked. */
export const countCell = computedCell(count, Tally5)
