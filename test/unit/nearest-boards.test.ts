import { describe, expect, test } from '@jest/globals';
import { BOARDS, nearestBoards } from '../../src/licenses/boards.ts';

function codes(label: string): string[] {
  return nearestBoards(label).map(({ code }) => code);
}

describe('the nearest boards', () => {
  test.each([
    // Mistyped or shortened names
    ['Nursing Bord', 'NUR'],
    ['nursing board', 'NUR'],
    ['Ohio Board of Nursng', 'NUR'],
    ['Pharmacy', 'PRX'],
    ['pharmcy board', 'PRX'],
    ['Psycology Board', 'PSY'],
    ['Architect Board', 'ARC'],
    ['Pharm', 'PRX'],
    ['Psych', 'PSY'],
    // Five letters, one of them wrong
    ['Dntal', 'DEN'],
    ['nusre', 'NUR'],
    // No word of it is near to any: the name that is spelled most like it
    ['Mdcl Brd', 'MED'],
    ['Accountancy', 'ACC'],
    // What other States, or people, call them
    ['State Board of Nursing of Ohio', 'NUR'],
    ['Board of Cosmetology', 'COS'],
    ['Barber Board', 'COS'],
    ['Social Work Board', 'CSW'],
    ['CSWMFT Board', 'CSW'],
    ['Physical Therapy Board', 'OPA'],
    ['Optometry Board', 'VIS'],
    ['Funeral Board', 'FUN'],
    ['Veterinary Board', 'VET'],
    ['Auto repair', 'MVR'],
    ['Elevators', 'ELV'],
    // Professions
    ['nurse', 'NUR'],
    ['LPN', 'NUR'],
    ['doctor', 'MED'],
    ['physicians', 'MED'],
    ['dentists', 'DEN'],
    ['CPA', 'ACC'],
    ['auctioneers', 'AGR'],
    ['hair salon', 'COS'],
    ['wholesale', 'PRX'],
  ])('of %j are only %s', (label, code) => {
    expect(codes(label)).toEqual([code]);
  });

  test.each([
    ['nursing home administrators', ['LTS', 'NUR']],
    ['Athletic', ['ATH', 'OPA']],
    ['Health', ['ENV', 'DBH']],
    // Four boards have such a license type
    ['Assistant', ['OPA', 'DEN', 'DBH']],
    ['Medical Boards', ['MED', 'VET']],
    ['State Medical Board of Ohio', ['MED', 'VET']],
  ])('of %j, which may mean several, are %j', (label, expected) => {
    expect(codes(label)).toEqual(expected);
  });

  test.each([
    ['LPM', 'NUR'],
    ['nrse', 'NUR'],
    ['CPX', 'ACC'],
  ])('of %j, which is too short to be misspelled, do not include %s', (label, code) => {
    expect(codes(label)).not.toContain(code);
  });

  test.each(['', '***', 'of the', 'x'.repeat(100_000)])('of %.20j are one board of the catalog', (label) => {
    const [nearest, ...others] = nearestBoards(label);
    expect(BOARDS).toContain(nearest);
    expect(others).toEqual([]);
  });
});
