import { Telescope } from 'lucide-react'
import { lookup } from '../../src/core/fields/lookup.ts'
import { computedCell } from './computed-cell.tsx'

/** What a field of the linked records holds. */
export const lookupCell = computedCell(lookup, Telescope)
