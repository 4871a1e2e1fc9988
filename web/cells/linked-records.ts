import { Link2 } from 'lucide-react'
import { links } from '../../src/core/fields/links.ts'
import { linksCell } from './links-cell.tsx'

/** Links to several records. */
export const linkedRecordsCell = linksCell(links, Link2)
