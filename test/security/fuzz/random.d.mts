export interface Random {
  below(most: number): number;
  oneIn(every: number): boolean;
  pick<T>(items: readonly T[]): T;
  list<T>(least: number, most: number, make: (index: number) => T): T[];
}

export declare function newRandom(seed: number): Random;
export declare function caseSeed(seed: number, index: number): number;
export declare function oddText(random: Random): string;
export declare function mutatedText(random: Random, text: string): string;
export declare function shorter<T>(items: readonly T[]): Generator<T[]>;
