import { Sigma } from 'lucide-react'
import { rollup } from '../../src/core/fields/rollup.ts'
import { computedCell } from './computed-cell.tsx'

/** A value over a field of the linked records. */
export const rollupCell = computedCell(rollup, Sigma)
